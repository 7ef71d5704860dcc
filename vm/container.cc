#include "vm/container.h"

#include <algorithm>
#include <cstring>

namespace bessemer::vm {

namespace {

template <class T>
T readAt(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// A zip local file header, https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3.7. Its
// 32-bit sizes are unset (zip64), so only the lengths of name and extra field count.
constexpr uint32_t kZipLocalHeader = 0x04034B50;
constexpr size_t kZipLocalHeaderSize = 30;
constexpr size_t kZipNameLength = 26;
constexpr size_t kZipExtraLength = 28;

} // namespace

Result<Container> Container::parse(std::span<const std::byte> file) {
  size_t prefix = 0;
  if (file.size() >= kZipLocalHeaderSize && readAt<uint32_t>(file, 0) == kZipLocalHeader)
    prefix = kZipLocalHeaderSize + readAt<uint16_t>(file, kZipNameLength) +
             readAt<uint16_t>(file, kZipExtraLength);
  constexpr size_t kSizePrefix = 4;
  constexpr size_t kIdentifierEnd = kSizePrefix + 8; // size, root offset, "IREE"
  if (file.size() < prefix || file.size() - prefix < kIdentifierEnd)
    return fail(StatusCode::InvalidArgument, "not a compiled module: the file ends after ",
                file.size(), " bytes, before the module's header");
  if (std::memcmp(file.data() + prefix + kSizePrefix + 4, "IREE", 4) != 0)
    return fail(StatusCode::InvalidArgument, "not a compiled module: no identifier IREE at offset ",
                prefix + kSizePrefix + 4);
  uint64_t size = readAt<uint32_t>(file, prefix);
  if (file.size() - prefix - kSizePrefix < size)
    return fail(StatusCode::InvalidArgument, "truncated: the module's table has ", size,
                " bytes at offset ", prefix + kSizePrefix, ", the file ends at ", file.size());
  Container container;
  container.file = file;
  container.flatbuffer = file.subspan(prefix, kSizePrefix + size);
  container.rodata_base = (prefix + kSizePrefix + size + 63) & ~uint64_t{63};
  return container;
}

Result<std::span<const std::byte>> Container::rodata(uint64_t offset, uint64_t length) const {
  uint64_t available = file.size() - std::min<uint64_t>(file.size(), rodata_base);
  if (offset > available || length > available - offset)
    return fail(StatusCode::OutOfRange, "truncated: a constant of ", length, " bytes at offset ",
                rodata_base + offset, " ends outside of the file of ", file.size(), " bytes");
  return file.subspan(rodata_base + offset, length);
}

} // namespace bessemer::vm
