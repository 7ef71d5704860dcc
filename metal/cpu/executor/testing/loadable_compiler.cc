// A compiler in a shared library, which tells in a file that it was opened.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "library_generated.h"
#include "metal/compiler/compiler.h"

namespace {

[[gnu::constructor]] void opened() {
  if (const char* path = std::getenv("EXECUTOR_TEST_OPENED"))
    if (std::FILE* file = std::fopen(path, "ab")) {
      std::fputc('x', file);
      std::fclose(file);
    }
}

int compile_source(const char*, size_t, const bessemer_source_options_t*, bessemer_bytes_t* out,
                   bessemer_bytes_t*) {
  bessemer::metal::LibraryT library;
  library.install_name = "compiled";
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(bessemer::metal::Library::Pack(builder, &library),
                 bessemer::metal::LibraryIdentifier());
  auto* copy = static_cast<uint8_t*>(std::malloc(builder.GetSize()));
  std::memcpy(copy, builder.GetBufferPointer(), builder.GetSize());
  *out = {copy, builder.GetSize(), copy};
  return 0;
}

} // namespace

extern "C" [[gnu::visibility("default")]] const bessemer_compiler_t*
bessemer_compiler_get(uint32_t abi) {
  static const bessemer_compiler_t compiler = {
      .abi = BESSEMER_COMPILER_ABI,
      .build_id = "loadable 1",
      .release = [](bessemer_bytes_t* bytes) { std::free(bytes->owner); },
      .compile_source = compile_source,
      .load_metallib = nullptr,
      .write_metallib = nullptr,
      .compile_kernel = nullptr,
  };
  return abi == BESSEMER_COMPILER_ABI ? &compiler : nullptr;
}
