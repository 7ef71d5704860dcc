#include "metal/toolchain/commands.h"
#include "llvm/Support/Path.h"

int main(int argc, char** argv) {
  using namespace bessemer::toolchain;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const llvm::StringRef name = llvm::sys::path::filename(argv[0]);
  if (name == "xcrun")
    return xcrun_command(arguments);
  if (name == "metallib")
    return library_command(arguments);
  return source_command(arguments);
}
