#ifndef IREE_HAL_MEMORY_TLSF_H_
#define IREE_HAL_MEMORY_TLSF_H_

#include "iree/async/frontier.h"
#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_MEMORY_TLSF_FL_COUNT 64
#define IREE_HAL_MEMORY_TLSF_SL_LOG2 5
#define IREE_HAL_MEMORY_TLSF_SL_COUNT (1 << IREE_HAL_MEMORY_TLSF_SL_LOG2)
#define IREE_HAL_MEMORY_TLSF_DEFAULT_FRONTIER_CAPACITY 8
#define IREE_HAL_MEMORY_TLSF_DEFAULT_INITIAL_BLOCK_CAPACITY 64
#define IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT 16

typedef uint32_t iree_hal_memory_tlsf_block_index_t;

#define IREE_HAL_MEMORY_TLSF_BLOCK_INDEX_NONE UINT32_MAX

typedef uint32_t iree_hal_memory_tlsf_block_flags_t;
enum iree_hal_memory_tlsf_block_flag_bits_e {
  IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_NONE = 0u,
  IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_FREE = 1u << 0,
  IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_LAST = 1u << 1,
  IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED = 1u << 2,
};

typedef struct iree_hal_memory_tlsf_block_t {
  iree_device_size_t offset;
  iree_device_size_t length;
  iree_hal_memory_tlsf_block_index_t prev_physical;
  iree_hal_memory_tlsf_block_index_t next_physical;
  iree_hal_memory_tlsf_block_index_t prev_free;
  iree_hal_memory_tlsf_block_index_t next_free;
  iree_hal_memory_tlsf_block_flags_t flags;
} iree_hal_memory_tlsf_block_t;

/// The range to divide, the alignment of all blocks (16 or more) and sizes of records.
typedef struct iree_hal_memory_tlsf_options_t {
  iree_device_size_t range_length;
  iree_device_size_t alignment;
  iree_host_size_t initial_block_capacity;
  uint8_t frontier_capacity;
} iree_hal_memory_tlsf_options_t;

/// A block that was taken, with what must have happened before it is used.
typedef struct iree_hal_memory_tlsf_allocation_t {
  iree_device_size_t offset;
  iree_device_size_t length;
  iree_hal_memory_tlsf_block_index_t block_index;
  const iree_async_frontier_t* death_frontier;
  iree_hal_memory_tlsf_block_flags_t block_flags;
} iree_hal_memory_tlsf_allocation_t;

typedef uint32_t iree_hal_memory_tlsf_allocate_result_t;
enum iree_hal_memory_tlsf_allocate_result_e {
  IREE_HAL_MEMORY_TLSF_ALLOCATE_OK = 0u,
  IREE_HAL_MEMORY_TLSF_ALLOCATE_EXHAUSTED = 1u,
};

typedef struct iree_hal_memory_tlsf_stats_t {
  iree_device_size_t bytes_allocated;
  iree_device_size_t bytes_free;
  uint32_t allocation_count;
  uint32_t free_block_count;
  uint64_t tainted_coalesce_count;
} iree_hal_memory_tlsf_stats_t;

/// Two-level segregated fit over a range of offsets; not thread-safe.
typedef struct iree_hal_memory_tlsf_t {
  iree_device_size_t range_length;
  iree_device_size_t alignment;
  uint8_t fl_min;
  uint8_t frontier_capacity;
  uint64_t fl_bitmap;
  uint32_t sl_bitmaps[IREE_HAL_MEMORY_TLSF_FL_COUNT];
  iree_hal_memory_tlsf_block_index_t free_lists[IREE_HAL_MEMORY_TLSF_FL_COUNT]
                                               [IREE_HAL_MEMORY_TLSF_SL_COUNT];
  uint8_t* block_storage;
  iree_host_size_t block_stride;
  iree_host_size_t frontier_offset;
  iree_host_size_t block_count;
  iree_host_size_t block_capacity;
  iree_hal_memory_tlsf_block_index_t unused_node_head;
  iree_device_size_t bytes_allocated;
  iree_device_size_t bytes_free;
  uint32_t allocation_count;
  uint32_t free_block_count;
  uint64_t tainted_coalesce_count;
  iree_allocator_t host_allocator;
} iree_hal_memory_tlsf_t;

/// Starts with one free block.
iree_status_t iree_hal_memory_tlsf_initialize(iree_hal_memory_tlsf_options_t options,
                                              iree_allocator_t host_allocator,
                                              iree_hal_memory_tlsf_t* out_tlsf);

/// Frees the records.
void iree_hal_memory_tlsf_deinitialize(iree_hal_memory_tlsf_t* tlsf);

/// Takes a block if one fits; see `out_result`.
iree_status_t iree_hal_memory_tlsf_try_allocate(iree_hal_memory_tlsf_t* tlsf,
                                                iree_device_size_t length,
                                                iree_hal_memory_tlsf_allocation_t* out_allocation,
                                                iree_hal_memory_tlsf_allocate_result_t* out_result);

/// Takes a block; RESOURCE_EXHAUSTED.
iree_status_t iree_hal_memory_tlsf_allocate(iree_hal_memory_tlsf_t* tlsf, iree_device_size_t length,
                                            iree_hal_memory_tlsf_allocation_t* out_allocation);

/// Gives a block back that is free once `death_frontier` (may be null) is reached, and joins it
/// with free neighbours, whose frontiers are merged. What does not fit taints the block.
void iree_hal_memory_tlsf_free(iree_hal_memory_tlsf_t* tlsf,
                               iree_hal_memory_tlsf_block_index_t block_index,
                               const iree_async_frontier_t* death_frontier);

/// Gives a block back that was not used; its frontier stays.
void iree_hal_memory_tlsf_restore(iree_hal_memory_tlsf_t* tlsf,
                                  iree_hal_memory_tlsf_block_index_t block_index);

void iree_hal_memory_tlsf_query_stats(const iree_hal_memory_tlsf_t* tlsf,
                                      iree_hal_memory_tlsf_stats_t* out_stats);

/// Bytes of the largest free block.
iree_device_size_t iree_hal_memory_tlsf_largest_free_block(const iree_hal_memory_tlsf_t* tlsf);

const iree_async_frontier_t*
iree_hal_memory_tlsf_block_death_frontier(const iree_hal_memory_tlsf_t* tlsf,
                                          iree_hal_memory_tlsf_block_index_t block_index);

iree_hal_memory_tlsf_block_flags_t
iree_hal_memory_tlsf_block_flags(const iree_hal_memory_tlsf_t* tlsf,
                                 iree_hal_memory_tlsf_block_index_t block_index);

#ifdef __cplusplus
}
#endif
#endif
