// Any text as --input for functions of every kind of argument, and as --expected_output. Texts that
// name files are left out: what they open is not the text's.
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "tools/inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bessemer;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find_first_of("@+*") != text.npos)
    return 0;
  // Numbers.
  for (vm::ValueType type : {vm::ValueType::I32, vm::ValueType::I64, vm::ValueType::F32,
                             vm::ValueType::F64, vm::ValueType::Ref})
    (void)tools::parseNumber(text, type);
  // A tensor's shape and type, then its elements into memory of the size that they say.
  const std::string shape = text.substr(0, text.find('='));
  iree_hal_dim_t dims[16];
  iree_host_size_t rank = 0;
  iree_hal_element_type_t type = IREE_HAL_ELEMENT_TYPE_NONE;
  iree_status_t status = iree_hal_parse_shape_and_element_type(
      iree_make_string_view(shape.data(), shape.size()), IREE_ARRAYSIZE(dims), &rank, dims, &type);
  const bool parsed = iree_status_is_ok(status);
  iree_status_ignore(status);
  if (!parsed)
    return 0;
  auto bytes = tools::byteLength(type, {dims, dims + rank});
  if (!bytes || *bytes > 65536 || text.size() == shape.size())
    return 0;
  std::vector<uint8_t> elements(*bytes);
  const std::string list = text.substr(shape.size() + 1);
  iree_status_ignore(
      iree_hal_parse_buffer_elements(iree_make_string_view(list.data(), list.size()), type,
                                     iree_make_byte_span(elements.data(), elements.size())));
  return 0;
}
