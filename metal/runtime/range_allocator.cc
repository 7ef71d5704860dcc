#include "metal/runtime/range_allocator.h"

#include <algorithm>
#include <iterator>

namespace mtl {

namespace {

uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

} // namespace

RangeAllocator::RangeAllocator(uint64_t size) {
  if (size != 0)
    add_free(0, size);
}

void RangeAllocator::add_free(uint64_t offset, uint64_t size) {
  by_offset_.emplace(offset, size);
  by_size_.emplace(size, offset);
}

void RangeAllocator::remove_free(std::map<uint64_t, uint64_t>::iterator it) {
  by_size_.erase({it->second, it->first});
  by_offset_.erase(it);
}

std::optional<uint64_t> RangeAllocator::allocate(uint64_t size, uint64_t alignment) {
  for (auto it = by_size_.lower_bound({size, 0}); it != by_size_.end(); ++it) {
    auto [length, begin] = *it;
    uint64_t offset = align_up(begin, alignment);
    if (offset - begin > length - size)
      continue;
    remove_free(by_offset_.find(begin));
    if (offset != begin)
      add_free(begin, offset - begin);
    if (uint64_t end = offset + size; end != begin + length)
      add_free(end, begin + length - end);
    used_ += size;
    return offset;
  }
  return std::nullopt;
}

void RangeAllocator::free(uint64_t offset, uint64_t size) {
  used_ -= size;
  auto next = by_offset_.lower_bound(offset);
  if (next != by_offset_.end() && next->first == offset + size) {
    size += next->second;
    auto joined = next++;
    remove_free(joined);
  }
  if (next != by_offset_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      remove_free(previous);
    }
  }
  add_free(offset, size);
}

uint64_t RangeAllocator::largest_free(uint64_t alignment) const {
  uint64_t largest = 0;
  for (auto it = by_size_.rbegin(); it != by_size_.rend() && it->first > largest; ++it) {
    auto [length, begin] = *it;
    uint64_t skipped = align_up(begin, alignment) - begin;
    if (skipped < length)
      largest = std::max(largest, length - skipped);
  }
  return largest;
}

} // namespace mtl
