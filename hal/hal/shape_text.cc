// Text of shapes and element types: `2x3`, `f32`, `2x3xf32`.

#include <span>

#include "hal/hal/text_writer.h"
#include "iree/hal/string_util.h"

using bessemer::hal::appendFormatted;
using bessemer::hal::TextWriter;

namespace {

struct NamedType {
  iree_string_view_t name;
  iree_hal_element_type_t type;
};

// Types whose names are not just a prefix and a bit count.
constexpr NamedType kNamedTypes[] = {
    {IREE_SVL("i1"), IREE_HAL_ELEMENT_TYPE_BOOL_8},
    {IREE_SVL("f8E5M2"), IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2},
    {IREE_SVL("f8E4M3FN"), IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FN},
    {IREE_SVL("f8E5M2FNUZ"), IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2_FNUZ},
    {IREE_SVL("f8E4M3FNUZ"), IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FNUZ},
    {IREE_SVL("f8E8M0FNU"), IREE_HAL_ELEMENT_TYPE_FLOAT_8_E8M0_FNU},
};

struct NumericalPrefix {
  iree_string_view_t prefix;
  iree_hal_numerical_type_t type;
};

// Longer prefixes before those they begin with; the first of a type is the one that is printed.
constexpr NumericalPrefix kPrefixes[] = {
    {IREE_SVL("si"), IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED},
    {IREE_SVL("ui"), IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED},
    {IREE_SVL("bf"), IREE_HAL_NUMERICAL_TYPE_FLOAT_BRAIN},
    {IREE_SVL("cf"), IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX},
    {IREE_SVL("i"), IREE_HAL_NUMERICAL_TYPE_INTEGER},
    {IREE_SVL("f"), IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE},
    {IREE_SVL("*"), IREE_HAL_NUMERICAL_TYPE_UNKNOWN},
    {IREE_SVL("x"), IREE_HAL_NUMERICAL_TYPE_UNKNOWN},
};

void writeShape(TextWriter& writer, std::span<const iree_hal_dim_t> shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    writer.format("%s%" PRIdim, i ? "x" : "", shape[i]);
  }
}

iree_status_t writeElementType(TextWriter& writer, iree_hal_element_type_t type) {
  for (const NamedType& named : kNamedTypes) {
    if (named.type == type) {
      writer.append(named.name);
      return iree_ok_status();
    }
  }
  for (const NumericalPrefix& prefix : kPrefixes) {
    if (prefix.type == iree_hal_element_numerical_type(type)) {
      writer.append(prefix.prefix);
      writer.format("%u", (unsigned)iree_hal_element_bit_count(type));
      return iree_ok_status();
    }
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "element type 0x%08x has no name", type);
}

/// Cuts the part of `text` before the last 'x' off as the shape.
void splitShapeAndType(iree_string_view_t text, iree_string_view_t* out_shape,
                       iree_string_view_t* out_type) {
  const iree_host_size_t at =
      iree_string_view_find_last_of(text, IREE_SV("x"), IREE_STRING_VIEW_NPOS);
  if (at == IREE_STRING_VIEW_NPOS) {
    *out_shape = iree_string_view_empty();
    *out_type = text;
  } else {
    *out_shape = iree_string_view_substr(text, 0, at);
    *out_type = iree_string_view_substr(text, at + 1, IREE_HOST_SIZE_MAX);
  }
}

} // namespace

iree_status_t iree_hal_parse_shape(iree_string_view_t value, iree_host_size_t shape_capacity,
                                   iree_host_size_t* out_shape_rank, iree_hal_dim_t* out_shape) {
  if (out_shape_rank)
    *out_shape_rank = 0;
  if (value.size == 0)
    return iree_ok_status();
  iree_host_size_t rank = 0;
  iree_string_view_t rest = value;
  for (bool more = true; more;) {
    iree_string_view_t dimText;
    const iree_host_size_t at = iree_string_view_find_char(rest, 'x', 0);
    more = at != IREE_STRING_VIEW_NPOS;
    dimText = more ? iree_string_view_substr(rest, 0, at) : rest;
    if (more)
      rest = iree_string_view_substr(rest, at + 1, IREE_HOST_SIZE_MAX);
    uint64_t dim = 0;
    // A leading digit keeps signs out, which the number parser may take.
    if (dimText.size == 0 || dimText.data[0] < '0' || dimText.data[0] > '9' ||
        !iree_string_view_atoi_uint64(dimText, &dim)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "shape '%.*s' has no dimension at '%.*s'", (int)value.size,
                              value.data, (int)dimText.size, dimText.data);
    }
    if (rank < shape_capacity && out_shape)
      out_shape[rank] = dim;
    ++rank;
  }
  if (out_shape_rank)
    *out_shape_rank = rank;
  return rank <= shape_capacity ? iree_ok_status()
                                : iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
}

iree_status_t iree_hal_format_shape(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                    iree_host_size_t buffer_capacity, char* buffer,
                                    iree_host_size_t* out_buffer_length) {
  TextWriter writer(buffer, buffer_capacity);
  writeShape(writer, {shape, shape_rank});
  return writer.finish(out_buffer_length);
}

iree_status_t iree_hal_append_shape_string(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                           iree_string_builder_t* string_builder) {
  return appendFormatted(string_builder, [&](char* buffer, auto capacity, auto* length) {
    return iree_hal_format_shape(shape_rank, shape, capacity, buffer, length);
  });
}

iree_status_t iree_hal_parse_element_type(iree_string_view_t value,
                                          iree_hal_element_type_t* out_element_type) {
  *out_element_type = IREE_HAL_ELEMENT_TYPE_NONE;
  for (const NamedType& named : kNamedTypes) {
    if (iree_string_view_equal(value, named.name)) {
      *out_element_type = named.type;
      return iree_ok_status();
    }
  }
  for (const NumericalPrefix& prefix : kPrefixes) {
    if (!iree_string_view_starts_with(value, prefix.prefix))
      continue;
    iree_string_view_t bits =
        iree_string_view_substr(value, prefix.prefix.size, IREE_HOST_SIZE_MAX);
    uint32_t bitCount = 0;
    if (bits.size == 0 || bits.data[0] < '0' || bits.data[0] > '9' ||
        !iree_string_view_atoi_uint32(bits, &bitCount) || bitCount > 255) {
      break;
    }
    *out_element_type = iree_hal_make_element_type(prefix.type, bitCount);
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' names no element type",
                          (int)value.size, value.data);
}

iree_status_t iree_hal_format_element_type(iree_hal_element_type_t element_type,
                                           iree_host_size_t buffer_capacity, char* buffer,
                                           iree_host_size_t* out_buffer_length) {
  if (out_buffer_length)
    *out_buffer_length = 0;
  TextWriter writer(buffer, buffer_capacity);
  IREE_RETURN_IF_ERROR(writeElementType(writer, element_type));
  return writer.finish(out_buffer_length);
}

iree_status_t iree_hal_append_element_type_string(iree_hal_element_type_t element_type,
                                                  iree_string_builder_t* string_builder) {
  return appendFormatted(string_builder, [&](char* buffer, auto capacity, auto* length) {
    return iree_hal_format_element_type(element_type, capacity, buffer, length);
  });
}

iree_status_t iree_hal_parse_shape_and_element_type(iree_string_view_t value,
                                                    iree_host_size_t shape_capacity,
                                                    iree_host_size_t* out_shape_rank,
                                                    iree_hal_dim_t* out_shape,
                                                    iree_hal_element_type_t* out_element_type) {
  *out_shape_rank = 0;
  *out_element_type = IREE_HAL_ELEMENT_TYPE_NONE;
  iree_string_view_t shapeText, typeText;
  splitShapeAndType(value, &shapeText, &typeText);
  IREE_RETURN_IF_ERROR(iree_hal_parse_shape(shapeText, shape_capacity, out_shape_rank, out_shape));
  return iree_hal_parse_element_type(typeText, out_element_type);
}

iree_status_t iree_hal_append_shape_and_element_type_string(iree_host_size_t shape_rank,
                                                            const iree_hal_dim_t* shape,
                                                            iree_hal_element_type_t element_type,
                                                            iree_string_builder_t* string_builder) {
  IREE_RETURN_IF_ERROR(iree_hal_append_shape_string(shape_rank, shape, string_builder));
  if (shape_rank > 0) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(string_builder, "x"));
  }
  return iree_hal_append_element_type_string(element_type, string_builder);
}
