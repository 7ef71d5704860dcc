#include "iree/base/bitfield.h"

#include <cctype>

iree_status_t iree_bitfield_parse(iree_string_view_t value, iree_host_size_t mapping_count,
                                  const iree_bitfield_string_mapping_t* mappings,
                                  uint32_t* out_value) {
  *out_value = 0;
  uint32_t bits = 0;
  iree_string_view_t rest = value;
  while (!iree_string_view_is_empty(rest)) {
    iree_string_view_t name;
    iree_string_view_split(rest, '|', &name, &rest);
    name = iree_string_view_trim(name);
    if (iree_string_view_is_empty(name))
      continue;
    uint32_t name_bits = 0;
    bool found = false;
    for (iree_host_size_t i = 0; !found && i < mapping_count; ++i) {
      found = iree_string_view_equal_case(name, mappings[i].string);
      if (found)
        name_bits = mappings[i].bits;
    }
    // The form in which bits without a name are printed: "40h".
    if (!found && std::isdigit(static_cast<unsigned char>(name.data[0])) &&
        (name.data[name.size - 1] == 'h')) {
      found = iree_string_view_atoi_uint32_base(iree_string_view_remove_suffix(name, 1), 16,
                                                &name_bits);
    }
    if (!found) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unknown name '%.*s' in '%.*s'",
                              static_cast<int>(name.size), name.data, static_cast<int>(value.size),
                              value.data);
    }
    bits |= name_bits;
  }
  *out_value = bits;
  return iree_ok_status();
}

iree_status_t iree_bitfield_format(uint32_t value, iree_host_size_t mapping_count,
                                   const iree_bitfield_string_mapping_t* mappings,
                                   iree_string_builder_t* string_builder) {
  uint32_t rest = value;
  bool first = true;
  for (iree_host_size_t i = 0; i < mapping_count; ++i) {
    if (mappings[i].bits == 0 || !iree_all_bits_set(rest, mappings[i].bits))
      continue;
    if (!first)
      IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(string_builder, "|"));
    IREE_RETURN_IF_ERROR(iree_string_builder_append_string(string_builder, mappings[i].string));
    rest &= ~mappings[i].bits;
    first = false;
  }
  if (rest == 0)
    return iree_ok_status();
  return iree_string_builder_append_format(string_builder, "%s%xh", first ? "" : "|", rest);
}

iree_string_view_t iree_bitfield_format_inline(uint32_t value, iree_host_size_t mapping_count,
                                               const iree_bitfield_string_mapping_t* mappings,
                                               iree_bitfield_string_temp_t* out_temp) {
  iree_string_builder_t builder;
  iree_string_builder_initialize_with_storage(out_temp->buffer, sizeof(out_temp->buffer), &builder);
  iree_status_t status = iree_bitfield_format(value, mapping_count, mappings, &builder);
  if (iree_status_is_ok(status))
    return iree_string_builder_view(&builder);
  iree_status_free(status);
  return iree_make_cstring_view("(too long)");
}
