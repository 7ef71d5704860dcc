// The container reader on any bytes: an error or functions whose parts are inside the file.
#include "metal/air/metallib.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto library = bessemer::air::Metallib::parse({data, size});
  if (!library) {
    llvm::consumeError(library.takeError());
    return 0;
  }
  for (const bessemer::air::MetallibFunction& function : library->functions()) {
    llvm::StringRef bitcode = library->bitcode(function);
    const auto* begin = reinterpret_cast<const uint8_t*>(bitcode.data());
    if (begin < data || begin + bitcode.size() > data + size)
      std::abort();
    auto constants = library->constants(function);
    if (!constants)
      llvm::consumeError(constants.takeError());
  }
  return 0;
}
