#include "iree/base/threading/numa.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

#if defined(IREE_PLATFORM_LINUX)
#include <sys/syscall.h>
#endif

namespace {

constexpr iree_host_size_t kNodeWords =
    (IREE_NUMA_MAX_NODES + IREE_BITMAP_BITS_PER_WORD - 1) / IREE_BITMAP_BITS_PER_WORD;

// Nodes that are online, read once.
struct Nodes {
  uint64_t words[kNodeWords] = {};
  iree_bitmap_t bitmap = {1, words};

  Nodes() {
    iree_host_size_t highest = 0;
#if defined(IREE_PLATFORM_LINUX)
    bitmap.bit_count = IREE_NUMA_MAX_NODES;
    // As "0-1,3".
    if (FILE* file = std::fopen("/sys/devices/system/node/online", "re")) {
      unsigned first = 0;
      while (std::fscanf(file, "%u", &first) == 1) {
        unsigned last = first;
        int separator = std::fgetc(file);
        if (separator == '-') {
          if (std::fscanf(file, "%u", &last) != 1)
            break;
          separator = std::fgetc(file);
        }
        for (unsigned node = first; node <= last && node < IREE_NUMA_MAX_NODES; ++node) {
          iree_bitmap_set(bitmap, node);
          highest = node;
        }
        if (separator != ',')
          break;
      }
      std::fclose(file);
    }
#endif
    bitmap.bit_count = highest + 1;
    if (iree_bitmap_none_set(bitmap))
      iree_bitmap_set(bitmap, 0);
  }
};

const Nodes& OnlineNodes() {
  static const Nodes nodes;
  return nodes;
}

} // namespace

iree_bitmap_t iree_numa_online_nodes(void) { return OnlineNodes().bitmap; }

iree_host_size_t iree_numa_node_count(void) { return iree_bitmap_count(OnlineNodes().bitmap); }

iree_numa_node_id_t iree_numa_node_for_current_thread(void) {
#if defined(IREE_PLATFORM_LINUX)
  unsigned cpu = 0, node = 0;
  if (syscall(SYS_getcpu, &cpu, &node, nullptr) == 0)
    return node;
#endif
  return 0;
}

iree_status_t iree_numa_alloc(iree_host_size_t size, const iree_numa_alloc_options_t* options,
                              void** out_ptr, iree_numa_alloc_info_t* out_info) {
  *out_ptr = nullptr;
  *out_info = {};
  if (size == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "allocations have at least one byte");
  }
  auto page_size = static_cast<iree_host_size_t>(sysconf(_SC_PAGESIZE));
  if (options->alignment > page_size) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "alignment of %" PRIhsz " bytes: pages have %" PRIhsz,
                            options->alignment, page_size);
  }
  iree_host_size_t mapped = 0;
  if (!iree_host_size_checked_align(size, page_size, &mapped)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "allocation size overflows");
  }
  void* ptr = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, /*fd=*/-1, 0);
  if (ptr == MAP_FAILED) {
    return iree_make_status(iree_status_code_from_errno(errno),
                            "out of memory: the system has no %" PRIhsz " bytes", mapped);
  }
  out_info->method = IREE_NUMA_ALLOC_METHOD_MMAP;
#if defined(IREE_PLATFORM_LINUX)
  if (iree_any_bit_set(options->flags, IREE_MEMORY_PLACEMENT_FLAG_EXPLICIT_HUGE_PAGES |
                                           IREE_MEMORY_PLACEMENT_FLAG_TRANSPARENT_HUGE_PAGES) &&
      madvise(ptr, mapped, MADV_HUGEPAGE) == 0) {
    out_info->method = IREE_NUMA_ALLOC_METHOD_TRANSPARENT_HUGE_PAGES;
  }
#endif
  if (options->node_id != IREE_NUMA_NODE_ANY) {
    iree_status_free(iree_numa_bind_memory(ptr, mapped, options->node_id));
  }
  out_info->allocated_size = mapped;
  *out_ptr = ptr;
  return iree_ok_status();
}

void iree_numa_free(void* ptr, const iree_numa_alloc_info_t* info) {
  if (ptr)
    munmap(ptr, info->allocated_size);
}

iree_status_t iree_numa_bind_memory(void* ptr, iree_host_size_t size, iree_numa_node_id_t node_id) {
#if defined(IREE_PLATFORM_LINUX)
  constexpr int kPreferred = 1; // MPOL_PREFERRED: falls back to other nodes when one is full.
  if (node_id >= IREE_NUMA_MAX_NODES) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "there is no memory node %u", node_id);
  }
  uint64_t mask[kNodeWords] = {};
  iree_bitmap_set({IREE_NUMA_MAX_NODES, mask}, node_id);
  if (syscall(SYS_mbind, ptr, size, kPreferred, mask, IREE_NUMA_MAX_NODES + 1, 0) == 0) {
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "cannot bind memory to node %u", node_id);
#else
  (void)ptr, (void)size, (void)node_id;
  return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
#endif
}
