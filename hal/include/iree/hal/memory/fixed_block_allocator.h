#ifndef IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_H_
#define IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_H_

#include "iree/async/frontier.h"
#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_MAX_BLOCKS 4096
#define IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_DEFAULT_FRONTIER_CAPACITY 4
#define IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BITMAP_WORDS 64

typedef uint32_t iree_hal_memory_fixed_block_allocator_block_flags_t;
enum iree_hal_memory_fixed_block_allocator_block_flag_bits_e {
  IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BLOCK_FLAG_NONE = 0u,
  IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BLOCK_FLAG_TAINTED = 1u << 0,
};

typedef struct iree_hal_memory_fixed_block_allocator_block_t {
  iree_hal_memory_fixed_block_allocator_block_flags_t flags;
} iree_hal_memory_fixed_block_allocator_block_t;

/// Blocks of `block_size` bytes, at most 4096, with room for so many frontier entries each.
typedef struct iree_hal_memory_fixed_block_allocator_options_t {
  iree_device_size_t block_size;
  uint32_t block_count;
  uint16_t frontier_capacity;
} iree_hal_memory_fixed_block_allocator_options_t;

/// A block that was taken, with what must have happened before it is used.
typedef struct iree_hal_memory_fixed_block_allocator_allocation_t {
  iree_device_size_t offset;
  uint32_t block_index;
  const iree_async_frontier_t* death_frontier;
  iree_hal_memory_fixed_block_allocator_block_flags_t block_flags;
} iree_hal_memory_fixed_block_allocator_allocation_t;

typedef uint32_t iree_hal_memory_fixed_block_allocator_acquire_result_t;
enum iree_hal_memory_fixed_block_allocator_acquire_result_e {
  IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_OK = 0u,
  IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_EXHAUSTED = 1u,
};

typedef struct iree_hal_memory_fixed_block_allocator_stats_t {
  uint32_t block_count;
  uint32_t allocation_count;
} iree_hal_memory_fixed_block_allocator_stats_t;

typedef struct iree_hal_memory_fixed_block_allocator_t {
  iree_device_size_t block_size;
  uint32_t block_count;
  uint16_t frontier_capacity;
  uint16_t word_count;
  iree_host_size_t block_stride;
  iree_host_size_t frontier_offset;
  iree_allocator_t host_allocator;
  iree_alignas(iree_hardware_destructive_interference_size) iree_atomic_int32_t alloc_hint_word;
  iree_alignas(iree_hardware_destructive_interference_size) iree_atomic_uint32_t allocation_count;
  iree_alignas(iree_hardware_destructive_interference_size)
      iree_atomic_uint64_t bitmap[IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BITMAP_WORDS];
  iree_alignas(iree_hardware_destructive_interference_size) uint8_t block_storage[];
} iree_hal_memory_fixed_block_allocator_t;

/// Makes an allocator of equal blocks. Taking and giving back is lock-free.
iree_status_t iree_hal_memory_fixed_block_allocator_allocate(
    iree_hal_memory_fixed_block_allocator_options_t options, iree_allocator_t host_allocator,
    iree_hal_memory_fixed_block_allocator_t** out_pool);

/// Frees the allocator.
void iree_hal_memory_fixed_block_allocator_free(iree_hal_memory_fixed_block_allocator_t* pool);

/// Takes a block if there is one; see `out_result`.
iree_status_t iree_hal_memory_fixed_block_allocator_try_acquire(
    iree_hal_memory_fixed_block_allocator_t* pool,
    iree_hal_memory_fixed_block_allocator_allocation_t* out_allocation,
    iree_hal_memory_fixed_block_allocator_acquire_result_t* out_result);

/// Takes a block; RESOURCE_EXHAUSTED.
iree_status_t iree_hal_memory_fixed_block_allocator_acquire(
    iree_hal_memory_fixed_block_allocator_t* pool,
    iree_hal_memory_fixed_block_allocator_allocation_t* out_allocation);

/// Gives a block back that is free once `death_frontier` (may be null) is reached. A frontier that
/// does not fit taints the block.
void iree_hal_memory_fixed_block_allocator_release(iree_hal_memory_fixed_block_allocator_t* pool,
                                                   uint32_t block_index,
                                                   const iree_async_frontier_t* death_frontier);

/// Gives a block back that was not used; its frontier stays.
void iree_hal_memory_fixed_block_allocator_restore(iree_hal_memory_fixed_block_allocator_t* pool,
                                                   uint32_t block_index);

void iree_hal_memory_fixed_block_allocator_query_stats(
    const iree_hal_memory_fixed_block_allocator_t* pool,
    iree_hal_memory_fixed_block_allocator_stats_t* out_stats);

const iree_async_frontier_t* iree_hal_memory_fixed_block_allocator_block_death_frontier(
    const iree_hal_memory_fixed_block_allocator_t* pool, uint32_t block_index);

iree_hal_memory_fixed_block_allocator_block_flags_t
iree_hal_memory_fixed_block_allocator_block_flags(
    const iree_hal_memory_fixed_block_allocator_t* pool, uint32_t block_index);

#ifdef __cplusplus
}
#endif
#endif
