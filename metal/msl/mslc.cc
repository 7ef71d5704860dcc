// mslc: MSL to AIR as text, for people who work on the compiler and for its tests.
#include "metal/msl/compiler.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace cl = llvm::cl;

namespace {

cl::OptionCategory g_category("mslc options");
cl::opt<std::string> g_input(cl::Positional, cl::desc("<file.metal, - for standard input>"),
                             cl::init("-"), cl::cat(g_category));
cl::opt<std::string> g_output("o", cl::desc("Output file"), cl::value_desc("file"), cl::init("-"),
                              cl::cat(g_category));
cl::list<std::string> g_macros("D", cl::desc("Macro: name or name=value"), cl::Prefix,
                               cl::cat(g_category));
cl::list<std::string> g_includes("I", cl::desc("Directory for #include"), cl::Prefix,
                                 cl::cat(g_category));
cl::opt<std::string> g_standard("std", cl::desc("Language: metal2.4, metal3.0, metal3.1, metal3.2"),
                                cl::init("metal3.2"), cl::cat(g_category));
cl::opt<std::string> g_math("math", cl::desc("safe, relaxed or fast"), cl::init("fast"),
                            cl::cat(g_category));
cl::opt<bool> g_raw("raw", cl::desc("Do not simplify"), cl::cat(g_category));
cl::opt<unsigned> g_repeat("repeat", cl::desc("Compile so often and say how long each took"),
                           cl::init(1), cl::cat(g_category));

} // namespace

int main(int argc, char** argv) {
  cl::HideUnrelatedOptions(g_category);
  cl::ParseCommandLineOptions(argc, argv, "Metal Shading Language to AIR\n");
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(g_input);
  if (!file) {
    llvm::errs() << "mslc: " << g_input << ": " << file.getError().message() << '\n';
    return 1;
  }
  bessemer::msl::Options options;
  options.file_name = g_input == "-" ? "program_source" : std::string(g_input);
  options.simplify = !g_raw;
  options.include_directories.assign(g_includes.begin(), g_includes.end());
  for (const std::string& macro : g_macros) {
    size_t equals = macro.find('=');
    options.macros.push_back(
        {macro.substr(0, equals), equals == std::string::npos ? "1" : macro.substr(equals + 1)});
  }
  llvm::StringRef standard = g_standard;
  unsigned major = 0, minor = 0;
  if (!standard.consume_front("metal") || standard.consumeInteger(10, major) ||
      !standard.consume_front(".") || standard.consumeInteger(10, minor)) {
    llvm::errs() << "mslc: -std takes metalMAJOR.MINOR, not '" << g_standard << "'\n";
    return 1;
  }
  options.language_version = major << 16 | minor;
  using bessemer::msl::MathMode;
  if (g_math == "safe")
    options.math_mode = MathMode::Safe;
  else if (g_math == "relaxed")
    options.math_mode = MathMode::Relaxed;
  else if (g_math != "fast") {
    llvm::errs() << "mslc: -math takes safe, relaxed or fast, not '" << g_math << "'\n";
    return 1;
  }
  for (unsigned i = 0; i < g_repeat; ++i) {
    llvm::LLVMContext context;
    auto start = std::chrono::steady_clock::now();
    auto compilation = bessemer::msl::compile((*file)->getBuffer(), options, context);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (g_repeat > 1)
      llvm::errs() << llvm::format("%.1f ms\n", time.count());
    if (i + 1 < g_repeat)
      continue;
    llvm::errs() << compilation.diagnostics;
    if (!compilation.module)
      return 1;
    std::error_code error;
    llvm::raw_fd_ostream out(g_output, error, llvm::sys::fs::OF_Text);
    if (error) {
      llvm::errs() << "mslc: " << g_output << ": " << error.message() << '\n';
      return 1;
    }
    compilation.module->print(out, nullptr);
  }
  return 0;
}
