// Any bytes as an executable: an error, or functions whose texts are inside the bytes.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "drivers/metal/executable_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bessemer::metal_driver;
  const iree_const_byte_span_t span = iree_make_const_byte_span(data, size);
  // No length means one that is not known, and then a header is there.
  iree_host_size_t inferred = 0;
  if (size != 0)
    iree_status_ignore(InferExecutableSize(span, &inferred));
  ExecutableSource source;
  iree_status_t status = ReadExecutable(span, &source);
  if (!iree_status_is_ok(status)) {
    // What it says is read as well.
    iree_host_size_t length = 0;
    char text[256];
    iree_status_format(status, sizeof(text), text, &length);
    iree_status_ignore(status);
    return 0;
  }
  auto check = [&](std::string_view text) {
    if (text.empty())
      return;
    const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
    if (begin < data || begin + text.size() > data + size)
      std::abort();
    const volatile char* ends[] = {&text.front(), &text.back()};
    (void)*ends[0];
    (void)*ends[1];
  };
  for (const LibrarySource& library : source.libraries)
    check(library.contents);
  for (const FunctionSource& function : source.functions) {
    check(function.name);
    check(function.entry_point);
    if (function.library_ordinal >= source.libraries.size() ||
        function.binding_count > kMaxBindingCount || function.constant_count > kMaxConstantCount)
      std::abort();
  }
  return 0;
}
