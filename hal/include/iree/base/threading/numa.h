// Memory nodes of the machine. Machines and systems without them have one node, 0.

#ifndef IREE_BASE_THREADING_NUMA_H_
#define IREE_BASE_THREADING_NUMA_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t iree_numa_node_id_t;
#define IREE_NUMA_NODE_ANY ((iree_numa_node_id_t)UINT32_MAX)

typedef uint32_t iree_memory_placement_flags_t;
enum iree_memory_placement_flag_bits_e {
  IREE_MEMORY_PLACEMENT_FLAG_NONE = 0u,
  IREE_MEMORY_PLACEMENT_FLAG_EXPLICIT_HUGE_PAGES = 1u << 0,
  IREE_MEMORY_PLACEMENT_FLAG_TRANSPARENT_HUGE_PAGES = 1u << 1,
};

typedef struct iree_numa_alloc_options_t {
  iree_numa_node_id_t node_id;
  // In bytes; 0 means a page.
  iree_host_size_t alignment;
  // In bytes; 0 means the system's.
  iree_host_size_t huge_page_size;
  iree_memory_placement_flags_t flags;
} iree_numa_alloc_options_t;

// How memory was obtained, best first.
typedef enum iree_numa_alloc_method_e {
  IREE_NUMA_ALLOC_METHOD_EXPLICIT_HUGE_PAGES = 0,
  IREE_NUMA_ALLOC_METHOD_TRANSPARENT_HUGE_PAGES,
  IREE_NUMA_ALLOC_METHOD_MMAP,
  IREE_NUMA_ALLOC_METHOD_STANDARD,
} iree_numa_alloc_method_t;

// What iree_numa_free needs to know.
typedef struct iree_numa_alloc_info_t {
  iree_host_size_t allocated_size;
  iree_host_size_t huge_page_size;
  iree_numa_alloc_method_t method;
} iree_numa_alloc_info_t;

static inline iree_numa_alloc_options_t iree_numa_alloc_options_default(void) {
  iree_numa_alloc_options_t options;
  options.node_id = IREE_NUMA_NODE_ANY;
  options.alignment = 0;
  options.huge_page_size = 0;
  options.flags = IREE_MEMORY_PLACEMENT_FLAG_NONE;
  return options;
}

#if defined(IREE_PLATFORM_LINUX)
#define IREE_NUMA_MAX_NODES 128
#else
#define IREE_NUMA_MAX_NODES 1
#endif

// At least 1.
IREE_API_EXPORT iree_host_size_t iree_numa_node_count(void);
// Nodes that have memory or processors; storage that lives as long as the process.
IREE_API_EXPORT iree_bitmap_t iree_numa_online_nodes(void);
IREE_API_EXPORT iree_numa_node_id_t iree_numa_node_for_current_thread(void);

// Zeroed memory. The placement is a wish: what cannot be had is done without.
IREE_API_EXPORT iree_status_t iree_numa_alloc(iree_host_size_t size,
                                              const iree_numa_alloc_options_t* options,
                                              void** out_ptr, iree_numa_alloc_info_t* out_info);
IREE_API_EXPORT void iree_numa_free(void* ptr, const iree_numa_alloc_info_t* info);
// UNAVAILABLE where memory cannot be bound.
IREE_API_EXPORT iree_status_t iree_numa_bind_memory(void* ptr, iree_host_size_t size,
                                                    iree_numa_node_id_t node_id);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_THREADING_NUMA_H_
