// Memory that is handed out piece by piece and taken back all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace bessemer::metal::cpu {

class Arena {
public:
  // Contents undefined. `alignment` is a power of two.
  void* allocate(size_t size, size_t alignment) {
    for (;;) {
      if (current_ < blocks_.size()) {
        Block& block = blocks_[current_];
        const uintptr_t base = reinterpret_cast<uintptr_t>(block.data.get());
        const uintptr_t start = (base + used_ + alignment - 1) & ~uintptr_t{alignment - 1};
        if (start - base <= block.size && size <= block.size - (start - base)) {
          used_ = start - base + size;
          return reinterpret_cast<void*>(start);
        }
        ++current_;
        used_ = 0;
        continue;
      }
      // Doubling keeps the number of blocks small however long the list gets.
      const size_t grown =
          blocks_.empty() ? kFirstBlock : std::min(blocks_.back().size * 2, kLargestBlock);
      const size_t needed = std::max(grown, size + alignment);
      blocks_.push_back({std::unique_ptr<uint8_t[]>(new uint8_t[needed]), needed});
    }
  }

  template <typename T>
  T* make() {
    return new (allocate(sizeof(T), alignof(T))) T();
  }

  // Takes everything back, keeps the blocks.
  void reset() {
    current_ = 0;
    used_ = 0;
  }

private:
  static constexpr size_t kFirstBlock = 4 * 1024;
  static constexpr size_t kLargestBlock = 1024 * 1024;

  struct Block {
    std::unique_ptr<uint8_t[]> data;
    size_t size;
  };
  std::vector<Block> blocks_;
  size_t current_ = 0;
  size_t used_ = 0;
};

} // namespace bessemer::metal::cpu
