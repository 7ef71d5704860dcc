// Reads fields one after another from bytes that nobody has checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "vm/status.h"

namespace bessemer::modules {

// Past the end everything reads as zero, and ok() stays false.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes, uint64_t offset = 0)
      : bytes_(bytes), offset_(offset) {
    if (offset > bytes.size())
      exhaust();
  }

  template <class T>
  T read() {
    T value{};
    if (left() < sizeof(T)) {
      exhaust();
      return value;
    }
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  std::string_view readText(uint64_t length) {
    if (left() < length) {
      exhaust();
      return {};
    }
    std::string_view text(reinterpret_cast<const char*>(bytes_.data() + offset_),
                          static_cast<size_t>(length));
    offset_ += length;
    return text;
  }

  void skip(uint64_t count) {
    if (left() < count)
      exhaust();
    else
      offset_ += count;
  }

  bool ok() const { return ok_; }
  uint64_t offset() const { return offset_; }
  uint64_t left() const { return bytes_.size() - offset_; }

private:
  void exhaust() {
    ok_ = false;
    offset_ = bytes_.size();
  }

  std::span<const std::byte> bytes_;
  uint64_t offset_;
  bool ok_ = true;
};

// Whether [offset, offset + length) is inside `size`.
inline bool isInside(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

} // namespace bessemer::modules
