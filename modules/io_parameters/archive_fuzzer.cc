// Reads arbitrary bytes as each kind of parameter file and touches the ends of what it finds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "modules/io_parameters/archive.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bessemer;
  auto file = vm::FileMapping::fromMemory({reinterpret_cast<const std::byte*>(data), size});
  auto touch = [](const vm::Result<modules::Archive>& archive) {
    if (!archive)
      return;
    for (const auto& [name, parameter] : archive->parameters) {
      if (parameter.kind != modules::Parameter::Kind::Data || parameter.length == 0)
        continue;
      auto bytes = parameter.file->bytes();
      if (parameter.offset + parameter.length > bytes.size())
        std::abort();
      const volatile std::byte* first = &bytes[parameter.offset];
      (void)first[0];
      (void)first[parameter.length - 1];
    }
  };
  touch(modules::readIrpa(file, "/nowhere/fuzz.irpa"));
  touch(modules::readSafetensors(file, "fuzz.safetensors"));
  touch(modules::readGguf(file, "fuzz.gguf"));
  return 0;
}
