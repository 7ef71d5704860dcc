// Text of elements: `1`, `-2.5`, `[1 2][3 4]`. Types without a number format of their own (bool,
// complex, opaque, less than a byte) are written as hexadecimal bytes in memory order.

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

#include "hal/hal/small_float.h"
#include "hal/hal/text_writer.h"
#include "iree/hal/string_util.h"

namespace {

using namespace bessemer::hal;

enum class Format { Integer, UnsignedInteger, Float, Bytes };

Format formatOf(iree_hal_element_type_t type) {
  const auto bits = iree_hal_element_bit_count(type);
  switch (iree_hal_element_numerical_type(type)) {
  case IREE_HAL_NUMERICAL_TYPE_INTEGER:
  case IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED:
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? Format::Integer : Format::Bytes;
  case IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED:
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? Format::UnsignedInteger
                                                               : Format::Bytes;
  default:
    break;
  }
  switch (type) {
  case IREE_HAL_ELEMENT_TYPE_FLOAT_16:
  case IREE_HAL_ELEMENT_TYPE_FLOAT_32:
  case IREE_HAL_ELEMENT_TYPE_FLOAT_64:
  case IREE_HAL_ELEMENT_TYPE_BFLOAT_16:
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2:
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FN:
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2_FNUZ:
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FNUZ:
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E8M0_FNU:
    return Format::Float;
  default:
    return Format::Bytes;
  }
}

template <typename T>
void store(uint8_t* target, T value) {
  std::memcpy(target, &value, sizeof(value));
}

template <typename T>
T load(const uint8_t* source) {
  T value;
  std::memcpy(&value, source, sizeof(value));
  return value;
}

void storeFloat(uint8_t* target, iree_hal_element_type_t type, double value) {
  switch (type) {
  case IREE_HAL_ELEMENT_TYPE_FLOAT_64:
    return store(target, value);
  case IREE_HAL_ELEMENT_TYPE_FLOAT_32:
    return store(target, static_cast<float>(value));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_16:
    return store(target, static_cast<uint16_t>(Float16::encode(value)));
  case IREE_HAL_ELEMENT_TYPE_BFLOAT_16:
    return store(target, static_cast<uint16_t>(BFloat16::encode(value)));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2:
    return store(target, static_cast<uint8_t>(Float8E5M2::encode(value)));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FN:
    return store(target, static_cast<uint8_t>(Float8E4M3FN::encode(value)));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2_FNUZ:
    return store(target, static_cast<uint8_t>(Float8E5M2FNUZ::encode(value)));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FNUZ:
    return store(target, static_cast<uint8_t>(Float8E4M3FNUZ::encode(value)));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E8M0_FNU:
    return store(target, static_cast<uint8_t>(Float8E8M0FNU::encode(value)));
  }
}

double loadFloat(const uint8_t* source, iree_hal_element_type_t type) {
  switch (type) {
  case IREE_HAL_ELEMENT_TYPE_FLOAT_64:
    return load<double>(source);
  case IREE_HAL_ELEMENT_TYPE_FLOAT_32:
    return load<float>(source);
  case IREE_HAL_ELEMENT_TYPE_FLOAT_16:
    return Float16::decode(load<uint16_t>(source));
  case IREE_HAL_ELEMENT_TYPE_BFLOAT_16:
    return BFloat16::decode(load<uint16_t>(source));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2:
    return Float8E5M2::decode(*source);
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FN:
    return Float8E4M3FN::decode(*source);
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2_FNUZ:
    return Float8E5M2FNUZ::decode(*source);
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FNUZ:
    return Float8E4M3FNUZ::decode(*source);
  case IREE_HAL_ELEMENT_TYPE_FLOAT_8_E8M0_FNU:
    return Float8E8M0FNU::decode(*source);
  }
  return 0;
}

uint64_t loadInteger(const uint8_t* source, iree_host_size_t size) {
  switch (size) {
  case 1:
    return *source;
  case 2:
    return load<uint16_t>(source);
  case 4:
    return load<uint32_t>(source);
  default:
    return load<uint64_t>(source);
  }
}

int64_t signExtend(uint64_t value, iree_host_size_t size) {
  const unsigned shift = 64 - 8 * static_cast<unsigned>(size);
  return static_cast<int64_t>(value << shift) >> shift;
}

bool isHexDigits(iree_string_view_t text) {
  return text.size && std::all_of(text.data, text.data + text.size,
                                  [](unsigned char c) { return std::isxdigit(c); });
}

/// Parses an optional sign and a decimal or `0x` number of at most 64 bits.
bool parseMagnitude(iree_string_view_t text, bool* out_negative, uint64_t* out_magnitude) {
  *out_negative = false;
  if (text.size && (text.data[0] == '-' || text.data[0] == '+')) {
    *out_negative = text.data[0] == '-';
    text = iree_string_view_substr(text, 1, IREE_HOST_SIZE_MAX);
  }
  int base = 10;
  if (text.size > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
    base = 16;
    text = iree_string_view_substr(text, 2, IREE_HOST_SIZE_MAX);
  }
  if (!isHexDigits(text))
    return false;
  uint64_t value = 0;
  for (iree_host_size_t i = 0; i < text.size; ++i) {
    const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(text.data[i])));
    const unsigned digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (digit >= static_cast<unsigned>(base))
      return false;
    if (__builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value)) {
      return false;
    }
  }
  *out_magnitude = value;
  return true;
}

bool parseInteger(iree_string_view_t text, iree_hal_element_type_t type, uint64_t* out_value) {
  bool negative = false;
  uint64_t magnitude = 0;
  if (!parseMagnitude(text, &negative, &magnitude))
    return false;
  const auto bits = static_cast<unsigned>(iree_hal_element_bit_count(type));
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  const uint64_t half = uint64_t{1} << (bits - 1);
  const auto numerical = iree_hal_element_numerical_type(type);
  if (negative) {
    const bool takesNegative = numerical != IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED;
    if (magnitude != 0 && (!takesNegative || magnitude > half))
      return false;
  } else {
    const bool takesUpperHalf = numerical != IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED;
    if (magnitude > (takesUpperHalf ? ones : half - 1))
      return false;
  }
  *out_value = negative ? uint64_t{0} - magnitude : magnitude;
  return true;
}

bool parseFloat(iree_string_view_t text, double* out_value) {
  char terminated[128];
  if (text.size == 0 || text.size >= sizeof(terminated))
    return false;
  std::memcpy(terminated, text.data, text.size);
  terminated[text.size] = 0;
  char* end = nullptr;
  *out_value = std::strtod(terminated, &end);
  return end == terminated + text.size;
}

void formatElement(TextWriter& writer, const uint8_t* source, iree_hal_element_type_t type,
                   iree_host_size_t size) {
  switch (formatOf(type)) {
  case Format::Integer:
    return writer.format("%" PRIi64, signExtend(loadInteger(source, size), size));
  case Format::UnsignedInteger:
    return writer.format("%" PRIu64, loadInteger(source, size));
  case Format::Float:
    return writer.format("%G", loadFloat(source, type));
  case Format::Bytes:
    for (iree_host_size_t i = 0; i < size; ++i)
      writer.format("%02X", source[i]);
  }
}

/// Takes the next token off `*text`; false at its end.
bool nextToken(iree_string_view_t* text, iree_string_view_t* out_token) {
  auto isSeparator = [](unsigned char c) {
    return std::isspace(c) || c == ',' || c == '[' || c == ']';
  };
  const char* end = text->data + text->size;
  const char* begin = std::find_if_not(text->data, end, isSeparator);
  if (begin == end)
    return false;
  const char* stop = std::find_if(begin, end, isSeparator);
  *out_token = iree_make_string_view(begin, stop - begin);
  *text = iree_make_string_view(stop, end - stop);
  return true;
}

/// Prints elements in nested brackets, at most a given number of them.
class ElementPrinter {
public:
  ElementPrinter(TextWriter& writer, iree_const_byte_span_t data, iree_hal_element_type_t type,
                 iree_host_size_t limit)
      : writer_(writer), next_(data.data), type_(type),
        elementSize_(iree_hal_element_dense_byte_count(type)), remaining_(limit) {}

  void print(std::span<const iree_hal_dim_t> shape) {
    if (shape.empty())
      return printRow(1);
    if (shape.size() == 1)
      return printRow(shape[0]);
    for (iree_hal_dim_t i = 0; i < shape[0]; ++i) {
      writer_.append("[");
      print(shape.subspan(1));
      writer_.append("]");
    }
  }

private:
  void printRow(iree_hal_dim_t count) {
    for (iree_hal_dim_t i = 0; i < count; ++i) {
      if (remaining_ == 0)
        return writer_.append("...");
      if (i > 0)
        writer_.append(" ");
      formatElement(writer_, next_, type_, elementSize_);
      next_ += elementSize_;
      --remaining_;
    }
  }

  TextWriter& writer_;
  const uint8_t* next_;
  iree_hal_element_type_t type_;
  iree_host_size_t elementSize_;
  iree_host_size_t remaining_;
};

} // namespace

iree_status_t iree_hal_parse_element(iree_string_view_t data_str,
                                     iree_hal_element_type_t element_type,
                                     iree_byte_span_t data_ptr) {
  const iree_host_size_t size = iree_hal_element_dense_byte_count(element_type);
  if (data_ptr.data_length < size) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "an element of %" PRIhsz " bytes does not fit %" PRIhsz, size,
                            data_ptr.data_length);
  }
  bool parsed = false;
  switch (formatOf(element_type)) {
  case Format::Integer:
  case Format::UnsignedInteger: {
    uint64_t value = 0;
    parsed = parseInteger(data_str, element_type, &value);
    // Little-endian hosts: the low bytes come first.
    if (parsed)
      std::memcpy(data_ptr.data, &value, size);
    break;
  }
  case Format::Float: {
    double value = 0;
    parsed = parseFloat(data_str, &value);
    if (parsed)
      storeFloat(data_ptr.data, element_type, value);
    break;
  }
  case Format::Bytes:
    parsed = size > 0 && data_str.size == 2 * size && isHexDigits(data_str) &&
             iree_string_view_parse_hex_bytes(data_str, size, data_ptr.data);
    break;
  }
  if (parsed)
    return iree_ok_status();
  char type[32] = "?";
  iree_host_size_t typeSize = 0;
  iree_status_ignore(iree_hal_format_element_type(element_type, sizeof(type), type, &typeSize));
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' is no value of type %s",
                          (int)data_str.size, data_str.data, type);
}

iree_status_t iree_hal_format_element(iree_const_byte_span_t data,
                                      iree_hal_element_type_t element_type,
                                      iree_host_size_t buffer_capacity, char* buffer,
                                      iree_host_size_t* out_buffer_length) {
  if (out_buffer_length)
    *out_buffer_length = 0;
  const iree_host_size_t size = iree_hal_element_dense_byte_count(element_type);
  if (data.data_length < size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "an element of %" PRIhsz " bytes is not in %" PRIhsz, size,
                            data.data_length);
  }
  TextWriter writer(buffer, buffer_capacity);
  formatElement(writer, data.data, element_type, size);
  return writer.finish(out_buffer_length);
}

iree_status_t iree_hal_parse_buffer_elements(iree_string_view_t data_str,
                                             iree_hal_element_type_t element_type,
                                             iree_byte_span_t data_ptr) {
  const iree_host_size_t size = iree_hal_element_dense_byte_count(element_type);
  if (size == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "elements of type 0x%08x have no size",
                            element_type);
  }
  const iree_host_size_t count = data_ptr.data_length / size;
  iree_string_view_t rest = data_str, token;
  iree_host_size_t parsed = 0;
  for (; nextToken(&rest, &token); ++parsed) {
    if (parsed == count && count > 0) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "more values than the %" PRIhsz " elements of the shape", count);
    }
    if (count == 0)
      continue;
    IREE_RETURN_IF_ERROR(iree_hal_parse_element(
        token, element_type, iree_make_byte_span(data_ptr.data + parsed * size, size)));
  }
  if (parsed == 0) {
    if (data_ptr.data_length)
      std::memset(data_ptr.data, 0, data_ptr.data_length);
    return iree_ok_status();
  }
  if (parsed == 1) {
    for (iree_host_size_t i = 1; i < count; ++i) {
      std::memcpy(data_ptr.data + i * size, data_ptr.data, size);
    }
    return iree_ok_status();
  }
  if (parsed != count) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "%" PRIhsz " values for the %" PRIhsz " elements of the shape", parsed,
                            count);
  }
  return iree_ok_status();
}

iree_status_t iree_hal_format_buffer_elements(
    iree_const_byte_span_t data, iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
    iree_hal_element_type_t element_type, iree_host_size_t max_element_count,
    iree_host_size_t buffer_capacity, char* buffer, iree_host_size_t* out_buffer_length) {
  if (out_buffer_length)
    *out_buffer_length = 0;
  TextWriter writer(buffer, buffer_capacity);
  const std::span<const iree_hal_dim_t> dims(shape, shape_rank);
  if (!iree_hal_element_is_byte_aligned(element_type)) {
    // Packed elements share bytes: print the bytes.
    const iree_hal_dim_t bytes = data.data_length;
    ElementPrinter(writer, data, IREE_HAL_ELEMENT_TYPE_OPAQUE_8, max_element_count)
        .print({&bytes, 1});
    return writer.finish(out_buffer_length);
  }
  iree_device_size_t byteCount = iree_hal_element_dense_byte_count(element_type);
  for (iree_hal_dim_t dim : dims) {
    if (!iree_device_size_checked_mul(byteCount, dim, &byteCount))
      break;
  }
  if (byteCount > data.data_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "the shape needs %" PRIdsz " bytes; the data has %" PRIhsz, byteCount,
                            data.data_length);
  }
  ElementPrinter(writer, data, element_type, max_element_count).print(dims);
  return writer.finish(out_buffer_length);
}
