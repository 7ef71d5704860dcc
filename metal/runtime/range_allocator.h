// Hands out ranges of a fixed span: what an automatic MTLHeap places its resources with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace mtl {

/// Best fit over [0, size), neighbours joined again when both are free. Not thread safe.
class RangeAllocator {
public:
  explicit RangeAllocator(uint64_t size);

  /// Offset of `size` free bytes (> 0) at a multiple of `alignment` (a power of two), or nothing.
  std::optional<uint64_t> allocate(uint64_t size, uint64_t alignment);

  /// Gives back a range that allocate returned.
  void free(uint64_t offset, uint64_t size);

  /// Bytes handed out; bytes skipped for alignment stay free.
  uint64_t used() const { return used_; }

  /// The largest size that allocate(size, alignment) would find room for.
  uint64_t largest_free(uint64_t alignment) const;

private:
  void add_free(uint64_t offset, uint64_t size);
  void remove_free(std::map<uint64_t, uint64_t>::iterator it);

  uint64_t used_ = 0;
  std::map<uint64_t, uint64_t> by_offset_;          // offset -> size
  std::set<std::pair<uint64_t, uint64_t>> by_size_; // (size, offset)
};

} // namespace mtl
