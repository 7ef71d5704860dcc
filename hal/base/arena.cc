#include "iree/base/internal/arena.h"

#include <cstring>

namespace {

// The link of a block behind its usable bytes, which are as many as keep the link aligned.
iree_host_size_t UsableSize(iree_host_size_t total_block_size) {
  return (total_block_size - sizeof(iree_arena_block_t)) & ~(iree_max_align_t - 1);
}

constexpr iree_host_size_t kOversizedHeader =
    (sizeof(iree_arena_oversized_allocation_t) + iree_max_align_t - 1) & ~(iree_max_align_t - 1);

iree_status_t ArenaCtl(void* self, iree_allocator_command_t command, const void* params,
                       void** inout_ptr) {
  auto* arena = static_cast<iree_arena_allocator_t*>(self);
  if (command == IREE_ALLOCATOR_COMMAND_FREE)
    return iree_ok_status();
  if (command == IREE_ALLOCATOR_COMMAND_REALLOC && *inout_ptr) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "arenas do not keep sizes: no realloc");
  }
  iree_host_size_t size = static_cast<const iree_allocator_alloc_params_t*>(params)->byte_length;
  IREE_RETURN_IF_ERROR(iree_arena_allocate(arena, size, inout_ptr));
  if (command == IREE_ALLOCATOR_COMMAND_CALLOC)
    std::memset(*inout_ptr, 0, size);
  return iree_ok_status();
}

} // namespace

void iree_arena_block_pool_initialize(iree_host_size_t total_block_size,
                                      iree_allocator_t block_allocator,
                                      iree_arena_block_pool_t* out_block_pool) {
  *out_block_pool = {};
  out_block_pool->total_block_size = total_block_size;
  out_block_pool->usable_block_size = UsableSize(total_block_size);
  out_block_pool->block_allocator = block_allocator;
  iree_atomic_arena_block_slist_initialize(&out_block_pool->available_slist);
}

void iree_arena_block_pool_deinitialize(iree_arena_block_pool_t* block_pool) {
  iree_arena_block_pool_trim(block_pool);
  iree_atomic_arena_block_slist_deinitialize(&block_pool->available_slist);
}

iree_status_t iree_arena_block_pool_preallocate(iree_arena_block_pool_t* block_pool,
                                                iree_host_size_t count) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    void* ptr = nullptr;
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(block_pool->block_allocator,
                                                             block_pool->total_block_size, &ptr));
    iree_atomic_arena_block_slist_push(&block_pool->available_slist,
                                       iree_arena_block_trailer(block_pool, ptr));
  }
  return iree_ok_status();
}

void iree_arena_block_pool_trim(iree_arena_block_pool_t* block_pool) {
  iree_arena_block_t* block = nullptr;
  iree_atomic_arena_block_slist_flush(&block_pool->available_slist,
                                      IREE_ATOMIC_SLIST_FLUSH_ORDER_APPROXIMATE_LIFO, &block,
                                      nullptr);
  while (block) {
    iree_arena_block_t* next = iree_atomic_arena_block_slist_get_next(block);
    iree_allocator_free(block_pool->block_allocator, iree_arena_block_ptr(block_pool, block));
    block = next;
  }
}

iree_status_t iree_arena_block_pool_acquire(iree_arena_block_pool_t* block_pool,
                                            iree_arena_block_t** out_block, void** out_ptr) {
  iree_arena_block_t* block = iree_atomic_arena_block_slist_pop(&block_pool->available_slist);
  if (!block) {
    void* ptr = nullptr;
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(block_pool->block_allocator,
                                                             block_pool->total_block_size, &ptr));
    block = iree_arena_block_trailer(block_pool, ptr);
  }
  block->next = nullptr;
  *out_block = block;
  *out_ptr = iree_arena_block_ptr(block_pool, block);
  return iree_ok_status();
}

void iree_arena_block_pool_release(iree_arena_block_pool_t* block_pool,
                                   iree_arena_block_t* block_head, iree_arena_block_t* block_tail) {
  iree_atomic_arena_block_slist_concat(&block_pool->available_slist, block_head, block_tail);
}

void iree_arena_initialize(iree_arena_block_pool_t* block_pool, iree_arena_allocator_t* out_arena) {
  *out_arena = {};
  out_arena->block_pool = block_pool;
}

void iree_arena_deinitialize(iree_arena_allocator_t* arena) { iree_arena_reset(arena); }

void iree_arena_reset(iree_arena_allocator_t* arena) {
  iree_arena_block_pool_t* block_pool = arena->block_pool;
  while (iree_arena_oversized_allocation_t* allocation = arena->allocation_head) {
    arena->allocation_head = allocation->next;
    iree_allocator_free(block_pool->block_allocator, allocation);
  }
  if (arena->block_head) {
    iree_arena_block_pool_release(block_pool, arena->block_head, arena->block_tail);
  }
  iree_arena_initialize(block_pool, arena);
}

iree_status_t iree_arena_allocate(iree_arena_allocator_t* arena, iree_host_size_t byte_length,
                                  void** out_ptr) {
  return iree_arena_allocate_aligned(arena, byte_length, iree_max_align_t, out_ptr);
}

iree_status_t iree_arena_allocate_aligned(iree_arena_allocator_t* arena,
                                          iree_host_size_t byte_length,
                                          iree_host_size_t min_alignment, void** out_ptr) {
  *out_ptr = nullptr;
  iree_arena_block_pool_t* block_pool = arena->block_pool;
  iree_host_size_t alignment = iree_max(min_alignment, iree_max_align_t);
  iree_host_size_t padded = 0;
  if (!iree_host_size_is_valid_alignment(alignment) ||
      !iree_host_size_checked_add(byte_length, alignment + kOversizedHeader, &padded)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "cannot allocate %" PRIhsz " bytes aligned to %" PRIhsz, byte_length,
                            min_alignment);
  }

  // Blocks come from malloc, so greater alignments may cost up to one more alignment.
  if (byte_length + (alignment - iree_max_align_t) > block_pool->usable_block_size) {
    void* ptr = nullptr;
    IREE_RETURN_IF_ERROR(
        iree_allocator_malloc_uninitialized(block_pool->block_allocator, padded, &ptr));
    auto* allocation = static_cast<iree_arena_oversized_allocation_t*>(ptr);
    allocation->next = arena->allocation_head;
    arena->allocation_head = allocation;
    arena->total_allocation_size += padded;
    arena->used_allocation_size += byte_length;
    *out_ptr = reinterpret_cast<void*>(
        iree_host_align(reinterpret_cast<uintptr_t>(ptr) + kOversizedHeader, alignment));
    return iree_ok_status();
  }

  for (;;) {
    if (arena->block_head) {
      auto block = reinterpret_cast<uintptr_t>(iree_arena_block_ptr(block_pool, arena->block_head));
      uintptr_t end = block + block_pool->usable_block_size;
      uintptr_t begin = iree_host_align(end - arena->block_bytes_remaining, alignment);
      if (begin <= end && byte_length <= end - begin) {
        arena->block_bytes_remaining = end - begin - byte_length;
        arena->used_allocation_size += byte_length;
        *out_ptr = reinterpret_cast<void*>(begin);
        return iree_ok_status();
      }
    }
    iree_arena_block_t* block = nullptr;
    void* ptr = nullptr;
    IREE_RETURN_IF_ERROR(iree_arena_block_pool_acquire(block_pool, &block, &ptr));
    block->next = arena->block_head;
    arena->block_head = block;
    if (!arena->block_tail)
      arena->block_tail = block;
    arena->block_bytes_remaining = block_pool->usable_block_size;
    arena->total_allocation_size += block_pool->total_block_size;
  }
}

iree_allocator_t iree_arena_allocator(iree_arena_allocator_t* arena) { return {arena, ArenaCtl}; }
