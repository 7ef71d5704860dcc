#include "metal/runtime/host_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace mtl {

namespace {

constexpr uint64_t kSmallAlignment = 256;
// From here on a mapping of its own: zero pages come from the kernel only when touched.
constexpr uint64_t kMapThreshold = 64 * 1024;
constexpr uint64_t kHugePage = 2 * 1024 * 1024;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The lowest memory limit among this process's control groups (version 2), or all ones.
uint64_t control_group_limit() {
  uint64_t limit = ~uint64_t{0};
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::"))
      continue;
    std::string path = line.substr(3);
    while (path.starts_with('/')) {
      std::ifstream file("/sys/fs/cgroup" + path + "/memory.max");
      uint64_t bytes = 0;
      if (file >> bytes)
        limit = std::min(limit, bytes);
      path.resize(path.rfind('/'));
    }
  }
  return limit;
}

// Blocks that were given back, for those who ask for the same size again: a model's every call
// allocates what the call before freed. New pages cost several times what clearing old ones does.
class FreeBlocks {
public:
  void* take(uint64_t size) {
    std::lock_guard lock(mutex_);
    for (size_t i = blocks_.size(); i-- > 0;)
      if (blocks_[i].size == size) {
        void* memory = blocks_[i].memory;
        blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(i));
        bytes_ -= size;
        return memory;
      }
    return nullptr;
  }

  // False: the block is the caller's still.
  bool give(void* memory, uint64_t size) {
    if (!kReusesBlocks || size > kMostBytes / 2)
      return false;
    std::lock_guard lock(mutex_);
    blocks_.push_back({memory, size});
    bytes_ += size;
    size_t count = 0;
    while (bytes_ > kMostBytes || blocks_.size() - count > kMostBlocks)
      bytes_ -= blocks_[count++].size;
    for (size_t i = 0; i < count; ++i)
      release(blocks_[i].memory, blocks_[i].size);
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<ptrdiff_t>(count));
    return true;
  }

  static void release(void* memory, uint64_t size) {
    if (size < kMapThreshold)
      std::free(memory);
    else
      munmap(memory, size);
  }

private:
  static constexpr uint64_t kMostBytes = 64 * 1024 * 1024;
  static constexpr size_t kMostBlocks = 64;
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
  static constexpr bool kReusesBlocks = false; // uses after the end are to be found
#else
  static constexpr bool kReusesBlocks = true;
#endif

  struct Block {
    void* memory;
    uint64_t size;
  };

  std::mutex mutex_;
  std::vector<Block> blocks_; // the oldest first
  uint64_t bytes_ = 0;
};

FreeBlocks& free_blocks() {
  static auto* blocks = new FreeBlocks; // buffers may be freed as the process ends
  return *blocks;
}

} // namespace

uint64_t host_page_size() {
  static const uint64_t size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

uint64_t host_memory_size(uint64_t length) {
  uint64_t unit = length < host_page_size() ? kSmallAlignment : host_page_size();
  return round_up(std::max<uint64_t>(length, 1), unit);
}

void* host_memory_allocate(uint64_t size) {
  if (void* memory = free_blocks().take(size))
    return std::memset(memory, 0, size);
  if (size < kMapThreshold) {
    uint64_t alignment = size < host_page_size() ? kSmallAlignment : host_page_size();
    void* memory = std::aligned_alloc(alignment, size);
    if (memory)
      std::memset(memory, 0, size);
    return memory;
  }
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  if (size >= kHugePage)
    madvise(memory, size, MADV_HUGEPAGE); // a hint; a kernel without them is as right
  return memory;
}

void host_memory_free(void* memory, uint64_t size) {
  if (memory && !free_blocks().give(memory, size))
    FreeBlocks::release(memory, size);
}

uint64_t host_memory_total() {
  static const uint64_t total = std::min(
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * host_page_size(), control_group_limit());
  return total;
}

} // namespace mtl
