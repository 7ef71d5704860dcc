// Arenas: many small allocations that are freed together, in blocks that a pool reuses.

#ifndef IREE_BASE_INTERNAL_ARENA_H_
#define IREE_BASE_INTERNAL_ARENA_H_

#include <stddef.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomic_slist.h"

#ifdef __cplusplus
extern "C" {
#endif

// Stands behind the usable bytes of its block.
typedef struct iree_arena_block_t {
  struct iree_arena_block_t* next;
} iree_arena_block_t;

IREE_TYPED_ATOMIC_SLIST_WRAPPER(iree_atomic_arena_block, iree_arena_block_t,
                                offsetof(iree_arena_block_t, next))

// Between a block's link and its bytes.
#define iree_arena_block_ptr(block_pool, block)                                                    \
  ((void*)((uint8_t*)(block) - (block_pool)->usable_block_size))
#define iree_arena_block_trailer(block_pool, ptr)                                                  \
  ((iree_arena_block_t*)(void*)((uint8_t*)(ptr) + (block_pool)->usable_block_size))

// Blocks of one size. Thread safe.
typedef struct iree_arena_block_pool_t {
  iree_host_size_t total_block_size;
  iree_host_size_t usable_block_size;
  iree_allocator_t block_allocator;
  iree_atomic_arena_block_slist_t available_slist;
} iree_arena_block_pool_t;

void iree_arena_block_pool_initialize(iree_host_size_t total_block_size,
                                      iree_allocator_t block_allocator,
                                      iree_arena_block_pool_t* out_block_pool);
// All blocks must have been released.
void iree_arena_block_pool_deinitialize(iree_arena_block_pool_t* block_pool);
iree_status_t iree_arena_block_pool_preallocate(iree_arena_block_pool_t* block_pool,
                                                iree_host_size_t count);
// Frees the blocks that no one uses.
void iree_arena_block_pool_trim(iree_arena_block_pool_t* block_pool);
iree_status_t iree_arena_block_pool_acquire(iree_arena_block_pool_t* block_pool,
                                            iree_arena_block_t** out_block, void** out_ptr);
// Returns a chain of blocks.
void iree_arena_block_pool_release(iree_arena_block_pool_t* block_pool,
                                   iree_arena_block_t* block_head, iree_arena_block_t* block_tail);

typedef struct iree_arena_oversized_allocation_t {
  struct iree_arena_oversized_allocation_t* next;
} iree_arena_oversized_allocation_t;

// Takes blocks as it grows. Not thread safe.
typedef struct iree_arena_allocator_t {
  iree_arena_block_pool_t* block_pool;
  // Bytes held, and bytes handed out.
  iree_host_size_t total_allocation_size;
  iree_host_size_t used_allocation_size;
  // What did not fit a block.
  iree_arena_oversized_allocation_t* allocation_head;
  iree_arena_block_t* block_head;
  iree_arena_block_t* block_tail;
  // Bytes left in block_head.
  iree_host_size_t block_bytes_remaining;
} iree_arena_allocator_t;

void iree_arena_initialize(iree_arena_block_pool_t* block_pool, iree_arena_allocator_t* out_arena);
void iree_arena_deinitialize(iree_arena_allocator_t* arena);
// Frees all allocations; the arena can be used again.
void iree_arena_reset(iree_arena_allocator_t* arena);
// Undefined contents, aligned to iree_max_align_t.
iree_status_t iree_arena_allocate(iree_arena_allocator_t* arena, iree_host_size_t byte_length,
                                  void** out_ptr);
iree_status_t iree_arena_allocate_aligned(iree_arena_allocator_t* arena,
                                          iree_host_size_t byte_length,
                                          iree_host_size_t min_alignment, void** out_ptr);
// The arena as an allocator, whose free does nothing.
iree_allocator_t iree_arena_allocator(iree_arena_allocator_t* arena);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_INTERNAL_ARENA_H_
