#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tools/child_process.h"
#include "tools/command.h"
#include "tools/compiler_failures.h"
#include "tools/progress.h"

namespace bessemer::tools {

namespace fs = std::filesystem;
using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

struct CompileFlags {
  std::string input;
  std::string output;
  std::string compiler;
  const CLI::App* app = nullptr;
};

bool isExecutable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// This program's file; empty when the system does not tell.
fs::path ownPath() {
  std::error_code ignored;
#if defined(__APPLE__)
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  return _NSGetExecutablePath(path.data(), &size) == 0 ? fs::canonical(path.c_str(), ignored)
                                                       : fs::path();
#else
  return fs::read_symlink("/proc/self/exe", ignored);
#endif
}

// A program of iree-base-compiler: on PATH, else in a .venv of the working folder, of this
// program's folder, or of a folder above them.
Result<fs::path> findProgram(const std::string& name) {
  if (const char* variable = std::getenv("PATH")) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const size_t colon = rest.find(':');
      const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
      if (isExecutable(candidate))
        return candidate;
      rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
    }
  }
  std::error_code ignored;
  for (fs::path start : {fs::current_path(ignored), ownPath()}) {
    for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
      const fs::path candidate = folder / ".venv" / "bin" / name;
      if (isExecutable(candidate))
        return candidate;
      if (folder == folder.parent_path())
        break;
    }
  }
  return fail(StatusCode::NotFound, "there is no ", name,
              " on PATH or in a .venv; install it with: pip install iree-base-compiler");
}

// Runs a compiler, its messages going on to stderr; explains failures that are known.
Result<void> runCompiler(const std::vector<std::string>& arguments, const std::string& what) {
  std::string diagnostics;
  ChildResult result;
  {
    Progress progress("compiling " + what);
    BESSEMER_ASSIGN_OR_RETURN(result, runChild(arguments, [&](std::string_view text) {
                                diagnostics += text;
                                progress.print(text);
                              }));
  }
  if (result.exit_code == 0 && result.signal == 0)
    return {};
  const std::string meaning = explainCompilerFailure(diagnostics, result.signal);
  const std::string program = fs::path(arguments[0]).filename().string();
  if (!meaning.empty())
    return fail(StatusCode::FailedPrecondition, what, ": ", program, " failed: ", meaning);
  return fail(StatusCode::FailedPrecondition, what, ": ", program, " failed with exit code ",
              result.exit_code);
}

// A folder of its own for a file between two steps, removed at the end.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path(error_) / "bessemer-XXXXXX").string();
    if (!error_ && mkdtemp(name.data()))
      path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    if (!path_.empty())
      fs::remove_all(path_, error_);
  }
  const fs::path& path() const { return path_; } // empty when there is none

private:
  std::error_code error_;
  fs::path path_;
};

CommandResult compile(const CompileFlags& flags) {
  std::vector<std::string> extra = flags.app->remaining();
  auto given = [&](std::string_view name) {
    for (const std::string& flag : extra)
      if (flag.starts_with(name))
        return true;
    return false;
  };
  std::error_code ignored;
  if (flags.input != "-" && !fs::exists(flags.input, ignored))
    return fail(StatusCode::NotFound, "cannot read '", flags.input, "': no such file");
  fs::path compiler = flags.compiler;
  if (compiler.empty()) {
    BESSEMER_ASSIGN_OR_RETURN(compiler, findProgram("iree-compile"));
  }
  std::string input = flags.input, output = flags.output;
  if (output.empty())
    output = flags.input == "-" ? "-" : fs::path(flags.input).stem().string() + ".vmfb";

  ScratchFolder scratch;
  if (input.ends_with(".onnx")) {
    BESSEMER_ASSIGN_OR_RETURN(const fs::path importer, findProgram("iree-import-onnx"));
    if (scratch.path().empty())
      return fail(StatusCode::ResourceExhausted, "no folder for temporary files");
    const std::string imported =
        (scratch.path() / fs::path(input).filename().replace_extension(".mlir")).string();
    BESSEMER_RETURN_IF_ERROR(runCompiler({importer.string(), input, "-o", imported}, flags.input));
    input = imported;
    if (!given("--iree-input-type"))
      extra.insert(extra.begin(), "--iree-input-type=onnx");
  }
  std::vector<std::string> arguments = {compiler.string(), input, "-o", output};
  if (!given("--iree-hal-target-device") && !given("--iree-hal-target-backends") &&
      !given("--compile-to"))
    arguments.push_back("--iree-hal-target-device=metal");
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  BESSEMER_RETURN_IF_ERROR(runCompiler(arguments, flags.input));
  return 0;
}

} // namespace

std::function<CommandResult()> addCompileCommand(CLI::App& app) {
  auto flags = std::make_shared<CompileFlags>();
  flags->app = &app;
  app.add_option(
         "file", flags->input,
         "A model: .mlir, .mlirbc (StableHLO, Torch, linalg) or .onnx; - for standard input")
      ->required();
  app.add_option("-o,--output", flags->output,
                 "The compiled module (default: the model's name with .vmfb); - for stdout")
      ->type_name("FILE");
  app.add_option("--iree-compile", flags->compiler,
                 "The compiler to use (default: iree-compile on PATH, then in a .venv)")
      ->type_name("PROGRAM");
  app.allow_extras();
  app.footer(
      "All other flags go to iree-compile as they are (write --flag=value); without a target, "
      "--iree-hal-target-device=metal is added.");
  return [flags] { return compile(*flags); };
}

} // namespace bessemer::tools
