#include "metal/toolchain/files.h"

#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

namespace bessemer::toolchain {

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> read_file(const std::string& path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false,
                                                 /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError("cannot read '" + path + "': " + file.getError().message());
  return std::move(*file);
}

llvm::Error write_file(const std::string& path, llvm::StringRef bytes) {
  if (path == "-") {
    llvm::outs() << bytes;
    llvm::outs().flush();
    if (llvm::outs().has_error())
      return llvm::createStringError("cannot write to standard output");
    return llvm::Error::success();
  }
  if (llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream& stream) {
        stream << bytes;
        return llvm::Error::success();
      }))
    return llvm::createStringError("cannot write '" + path +
                                   "': " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

int report(const char* name, llvm::Error error) {
  llvm::errs() << name << ": error: " << llvm::toString(std::move(error)) << '\n';
  return 1;
}

} // namespace bessemer::toolchain
