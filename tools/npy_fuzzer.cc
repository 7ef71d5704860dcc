// Any bytes as a .npy file: an array whose size fits its shape, or an error.
#include <cstdlib>
#include <string>

#include "tools/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bessemer::tools;
  size_t consumed = 0;
  auto array = parseNpy({reinterpret_cast<const char*>(data), size}, &consumed);
  if (!array)
    return 0;
  auto length = byteLength(array->element_type, array->shape);
  if (consumed > size || !length || *length != array->data.size())
    std::abort();
  // What was read and can be written reads back the same.
  std::string bytes;
  if (formatNpy(*array, bytes)) {
    auto again = parseNpy(bytes);
    if (!again || again->shape != array->shape || again->data != array->data)
      std::abort();
  }
  return 0;
}
