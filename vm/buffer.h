// !vm.buffer: a range of host memory that programs address by byte offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "vm/ref.h"
#include "vm/status.h"

namespace bessemer::vm {

class Buffer final : public Object {
public:
  enum class Access : uint8_t { ReadOnly, ReadWrite };

  // Zeroed memory of `length` bytes. `alignment`: a power of two, or 0 for 16.
  static Result<RefPtr<Buffer>> allocate(uint64_t length, uint64_t alignment = 0);
  // A view of memory that `owner` keeps alive.
  static RefPtr<Buffer> wrap(std::span<std::byte> memory, Access access,
                             std::shared_ptr<const void> owner);
  static RefPtr<Buffer> copy(std::span<const std::byte> bytes);
  // A read-only buffer with the characters of `text`.
  static RefPtr<Buffer> fromText(std::string_view text);

  uint64_t length() const { return length_; }
  bool writable() const { return access_ == Access::ReadWrite; }
  const std::byte* data() const { return data_; }
  std::byte* mutableData() { return data_; } // only when writable()
  std::span<const std::byte> bytes() const { return {data_, static_cast<size_t>(length_)}; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(data_), static_cast<size_t>(length_)};
  }

  // `length` bytes at `offset`, or OUT_OF_RANGE.
  Result<std::span<const std::byte>> range(uint64_t offset, uint64_t length) const;
  // The same for writing; PERMISSION_DENIED when read-only.
  Result<std::span<std::byte>> mutableRange(uint64_t offset, uint64_t length);

private:
  Buffer(std::byte* data, uint64_t length, Access access, std::shared_ptr<const void> owner)
      : data_(data), length_(length), access_(access), owner_(std::move(owner)) {}
  ~Buffer() override;

  std::byte* data_;
  uint64_t length_;
  Access access_;
  bool allocated_ = false; // data_ is from std::aligned_alloc
  std::shared_ptr<const void> owner_;
};

template <>
struct RefTraits<Buffer> {
  static const RefType& type();
};

} // namespace bessemer::vm
