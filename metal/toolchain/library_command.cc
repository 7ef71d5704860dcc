#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

#include "metal/air/module.h"
#include "metal/toolchain/commands.h"
#include "metal/toolchain/files.h"
#include "metal/toolchain/linking.h"

namespace bessemer::toolchain {

namespace {

constexpr char kName[] = "metallib";

llvm::Error run(const std::vector<std::string>& inputs, const std::string& output) {
  llvm::LLVMContext context;
  std::vector<std::unique_ptr<llvm::Module>> modules;
  for (const std::string& input : inputs) {
    auto file = read_file(input);
    if (!file)
      return file.takeError();
    auto module = air::parse_module(llvm::MemoryBufferRef((*file)->getBuffer(), input), context);
    if (!module)
      return llvm::createStringError("'" + input +
                                     "' is not AIR: " + llvm::toString(module.takeError()));
    (*module)->setModuleIdentifier(input);
    modules.push_back(std::move(*module));
  }
  auto library = link(std::move(modules));
  if (!library)
    return library.takeError();
  return write_file(output, *library);
}

} // namespace

int library_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> inputs;
  std::string output = "default.metallib";
  for (size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    if (argument == "-o" || argument == "--output") {
      if (++i == arguments.size())
        return report(kName, llvm::createStringError("-o wants a file after it"));
      output = arguments[i];
    } else if (argument.consume_front("-o=")) {
      output = argument.str();
    } else if (argument == "--help" || argument == "-h") {
      llvm::outs()
          << "Usage: metallib FILE.air... [-o FILE.metallib]\n"
             "Puts the functions of AIR files into a library. '-' is the standard stream.\n";
      return 0;
    } else if (argument == "--version" || argument == "-v") {
      llvm::outs() << "metallib of Bessemer " BESSEMER_VERSION "\n";
      return 0;
    } else if (argument != "-" && argument.starts_with("-")) {
      return report(kName, llvm::createStringError("unknown flag '" + argument.str() + "'"));
    } else {
      inputs.push_back(arguments[i]);
    }
  }
  if (inputs.empty())
    return report(kName, llvm::createStringError("no input files"));
  if (llvm::Error error = run(inputs, output))
    return report(kName, std::move(error));
  return 0;
}

} // namespace bessemer::toolchain
