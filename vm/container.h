// The layout of a .vmfb file: a FlatBuffer behind its size, alone or as the first member of a zip
// archive (stored, never compressed), then the large constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vm/status.h"

namespace bessemer::vm {

struct Container {
  std::span<const std::byte> file;
  // The FlatBuffer with its 4-byte size before it.
  std::span<const std::byte> flatbuffer;
  // Where external constants begin: the end of the FlatBuffer, rounded up to 64 bytes of the file.
  uint64_t rodata_base = 0;

  static Result<Container> parse(std::span<const std::byte> file);
  // `length` bytes, `offset` bytes after the base.
  Result<std::span<const std::byte>> rodata(uint64_t offset, uint64_t length) const;
};

} // namespace bessemer::vm
