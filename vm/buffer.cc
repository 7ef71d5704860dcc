#include "vm/buffer.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace bessemer::vm {

namespace {
constexpr uint64_t kDefaultAlignment = 16;
// More than any machine has; keeps sizes far from overflow.
constexpr uint64_t kMaxLength = uint64_t{1} << 46;
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
} // namespace

const RefType& RefTraits<Buffer>::type() {
  static constexpr RefType type = objectType<Buffer>("vm.buffer");
  return type;
}

Result<RefPtr<Buffer>> Buffer::allocate(uint64_t length, uint64_t alignment) {
  if (alignment == 0)
    alignment = kDefaultAlignment;
  if (!std::has_single_bit(alignment) || alignment > kMaxAlignment)
    return fail(StatusCode::InvalidArgument, "buffer alignment ", alignment,
                " is not a power of two up to ", kMaxAlignment);
  alignment = std::max(alignment, kDefaultAlignment);
  void* memory = nullptr;
  if (length <= kMaxLength)
    memory = std::aligned_alloc(
        alignment, std::max<uint64_t>((length + alignment - 1) & ~(alignment - 1), alignment));
  if (!memory)
    return fail(StatusCode::ResourceExhausted, "no memory for a buffer of ", length, " bytes");
  std::memset(memory, 0, length);
  auto* buffer = new Buffer(static_cast<std::byte*>(memory), length, Access::ReadWrite, nullptr);
  buffer->allocated_ = true;
  return RefPtr<Buffer>::adopt(buffer);
}

RefPtr<Buffer> Buffer::wrap(std::span<std::byte> memory, Access access,
                            std::shared_ptr<const void> owner) {
  return RefPtr<Buffer>::adopt(new Buffer(memory.data(), memory.size(), access, std::move(owner)));
}

RefPtr<Buffer> Buffer::copy(std::span<const std::byte> bytes) {
  auto memory = std::shared_ptr<std::byte[]>(new std::byte[bytes.size()]);
  std::ranges::copy(bytes, memory.get());
  return wrap({memory.get(), bytes.size()}, Access::ReadWrite, memory);
}

RefPtr<Buffer> Buffer::fromText(std::string_view text) {
  RefPtr<Buffer> buffer = copy(std::as_bytes(std::span(text)));
  buffer->access_ = Access::ReadOnly;
  return buffer;
}

Buffer::~Buffer() {
  if (allocated_)
    std::free(data_);
}

Result<std::span<const std::byte>> Buffer::range(uint64_t offset, uint64_t length) const {
  if (offset > length_ || length > length_ - offset)
    return fail(StatusCode::OutOfRange, length, " bytes at offset ", offset,
                " are not all inside a buffer of ", length_, " bytes");
  return std::span<const std::byte>(data_ + offset, length);
}

Result<std::span<std::byte>> Buffer::mutableRange(uint64_t offset, uint64_t length) {
  if (!writable())
    return fail(StatusCode::PermissionDenied, "the buffer is read-only");
  auto bytes = range(offset, length);
  if (!bytes)
    return propagate(std::move(bytes));
  return std::span<std::byte>(data_ + offset, length);
}

} // namespace bessemer::vm
