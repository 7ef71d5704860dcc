#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "iree/base/api.h"

namespace bessemer::hal {

/// Writes text into a caller's buffer and counts what would not fit, for the API's way of returning
/// strings: the length without NUL always, OUT_OF_RANGE when the buffer cannot hold text and NUL.
class TextWriter {
public:
  TextWriter(char* buffer, iree_host_size_t capacity)
      : buffer_(buffer), capacity_(buffer ? capacity : 0) {}

  void append(iree_string_view_t text) {
    if (length_ + text.size < capacity_)
      std::memcpy(buffer_ + length_, text.data, text.size);
    length_ += text.size;
  }
  void append(const char* text) { append(iree_make_string_view(text, std::strlen(text))); }

  __attribute__((format(printf, 2, 3))) void format(const char* format, ...) {
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    const int size = std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    append(iree_make_string_view(text, size));
  }

  /// Terminates the text and reports its length.
  iree_status_t finish(iree_host_size_t* out_length) {
    if (out_length)
      *out_length = length_;
    if (length_ >= capacity_)
      return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
    buffer_[length_] = 0;
    return iree_ok_status();
  }

private:
  char* buffer_;
  iree_host_size_t capacity_;
  iree_host_size_t length_ = 0;
};

/// Appends to `builder` what `formatInto(buffer, capacity, out_length)` writes.
template <typename FormatInto>
iree_status_t appendFormatted(iree_string_builder_t* builder, FormatInto formatInto) {
  iree_host_size_t length = 0;
  iree_status_t status = formatInto(nullptr, 0, &length);
  if (!iree_status_is_out_of_range(status))
    return status;
  iree_status_ignore(status);
  char* target = nullptr;
  iree_host_size_t capacity = 0;
  IREE_RETURN_IF_ERROR(
      iree_string_builder_reserve_for_append(builder, length + 1, &target, &capacity));
  // A builder without storage only measures.
  if (target && capacity > length) {
    IREE_RETURN_IF_ERROR(formatInto(target, capacity, &length));
  }
  iree_string_builder_commit_append(builder, length);
  return iree_ok_status();
}

} // namespace bessemer::hal
