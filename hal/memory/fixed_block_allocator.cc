// Equal blocks of a range, taken by a bit each. Every block remembers the frontier of its last
// user, so that the next one can tell whether it has to wait.

#include "iree/hal/memory/fixed_block_allocator.h"

#include <bit>
#include <cstring>

namespace {

using Allocator = iree_hal_memory_fixed_block_allocator_t;
using Block = iree_hal_memory_fixed_block_allocator_block_t;

constexpr uint32_t kBitsPerWord = 64;

Block* blockAt(const Allocator* pool, uint32_t index) {
  return reinterpret_cast<Block*>(const_cast<uint8_t*>(pool->block_storage) +
                                  index * pool->block_stride);
}

iree_async_frontier_t* frontierOf(const Allocator* pool, uint32_t index) {
  return reinterpret_cast<iree_async_frontier_t*>(reinterpret_cast<uint8_t*>(blockAt(pool, index)) +
                                                  pool->frontier_offset);
}

void giveBack(Allocator* pool, uint32_t index) {
  iree_atomic_fetch_sub(&pool->allocation_count, 1u, iree_memory_order_relaxed);
  // What was written about the block is seen by whoever takes it next.
  iree_atomic_fetch_and(&pool->bitmap[index / kBitsPerWord],
                        ~(uint64_t{1} << (index % kBitsPerWord)), iree_memory_order_release);
}

} // namespace

iree_status_t iree_hal_memory_fixed_block_allocator_allocate(
    iree_hal_memory_fixed_block_allocator_options_t options, iree_allocator_t host_allocator,
    iree_hal_memory_fixed_block_allocator_t** out_pool) {
  *out_pool = nullptr;
  if (options.block_size == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "blocks have at least one byte");
  }
  if (options.block_count == 0 ||
      options.block_count > IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_MAX_BLOCKS) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%u blocks asked for; there can be 1 to %d", options.block_count,
                            IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_MAX_BLOCKS);
  }
  const uint16_t capacity = options.frontier_capacity
                                ? options.frontier_capacity
                                : IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_DEFAULT_FRONTIER_CAPACITY;
  if (capacity > UINT8_MAX) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "frontiers have at most 255 entries");
  }
  const iree_host_size_t frontierOffset = iree_host_align(sizeof(Block), alignof(uint64_t));
  const iree_host_size_t stride = frontierOffset + sizeof(iree_async_frontier_t) +
                                  capacity * sizeof(iree_async_frontier_entry_t);
  void* storage = nullptr;
  // The words that threads contend for lie on cache lines of their own.
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(
      host_allocator, sizeof(Allocator) + options.block_count * stride, alignof(Allocator), 0,
      &storage));
  auto* pool = static_cast<Allocator*>(storage);
  std::memset(storage, 0, sizeof(Allocator) + options.block_count * stride);
  pool->block_size = options.block_size;
  pool->block_count = options.block_count;
  pool->frontier_capacity = capacity;
  pool->word_count = static_cast<uint16_t>((options.block_count + kBitsPerWord - 1) / kBitsPerWord);
  pool->block_stride = stride;
  pool->frontier_offset = frontierOffset;
  pool->host_allocator = host_allocator;
  // Bits behind the last block are taken for good.
  if (const uint32_t used = options.block_count % kBitsPerWord) {
    iree_atomic_store(&pool->bitmap[pool->word_count - 1], ~uint64_t{0} << used,
                      iree_memory_order_relaxed);
  }
  *out_pool = pool;
  return iree_ok_status();
}

void iree_hal_memory_fixed_block_allocator_free(iree_hal_memory_fixed_block_allocator_t* pool) {
  if (pool)
    iree_allocator_free_aligned(pool->host_allocator, pool);
}

iree_status_t iree_hal_memory_fixed_block_allocator_try_acquire(
    iree_hal_memory_fixed_block_allocator_t* pool,
    iree_hal_memory_fixed_block_allocator_allocation_t* out_allocation,
    iree_hal_memory_fixed_block_allocator_acquire_result_t* out_result) {
  std::memset(out_allocation, 0, sizeof(*out_allocation));
  *out_result = IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_EXHAUSTED;
  const auto start =
      static_cast<uint32_t>(iree_atomic_load(&pool->alloc_hint_word, iree_memory_order_relaxed));
  for (uint32_t i = 0; i < pool->word_count; ++i) {
    const uint32_t word = (start + i) % pool->word_count;
    uint64_t bits = iree_atomic_load(&pool->bitmap[word], iree_memory_order_relaxed);
    while (~bits != 0) {
      const int bit = std::countr_one(bits);
      if (!iree_atomic_compare_exchange_weak(&pool->bitmap[word], &bits,
                                             bits | (uint64_t{1} << bit), iree_memory_order_acquire,
                                             iree_memory_order_relaxed)) {
        continue;
      }
      iree_atomic_store(&pool->alloc_hint_word, static_cast<int32_t>(word),
                        iree_memory_order_relaxed);
      iree_atomic_fetch_add(&pool->allocation_count, 1u, iree_memory_order_relaxed);
      const uint32_t index = word * kBitsPerWord + static_cast<uint32_t>(bit);
      out_allocation->block_index = index;
      out_allocation->offset = index * pool->block_size;
      out_allocation->death_frontier =
          iree_hal_memory_fixed_block_allocator_block_death_frontier(pool, index);
      out_allocation->block_flags = blockAt(pool, index)->flags;
      *out_result = IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_OK;
      return iree_ok_status();
    }
  }
  return iree_ok_status();
}

iree_status_t iree_hal_memory_fixed_block_allocator_acquire(
    iree_hal_memory_fixed_block_allocator_t* pool,
    iree_hal_memory_fixed_block_allocator_allocation_t* out_allocation) {
  iree_hal_memory_fixed_block_allocator_acquire_result_t result;
  IREE_RETURN_IF_ERROR(
      iree_hal_memory_fixed_block_allocator_try_acquire(pool, out_allocation, &result));
  if (result == IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_OK)
    return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "all %u blocks are in use",
                          pool->block_count);
}

void iree_hal_memory_fixed_block_allocator_release(iree_hal_memory_fixed_block_allocator_t* pool,
                                                   uint32_t block_index,
                                                   const iree_async_frontier_t* death_frontier) {
  Block* block = blockAt(pool, block_index);
  iree_async_frontier_t* frontier = frontierOf(pool, block_index);
  // A caller that never used the block may hand back the frontier it was told to wait for.
  if (death_frontier == frontier)
    return giveBack(pool, block_index);
  block->flags = IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BLOCK_FLAG_NONE;
  frontier->entry_count = 0;
  if (death_frontier && death_frontier->entry_count > 0) {
    if (!iree_async_frontier_merge(frontier, static_cast<uint8_t>(pool->frontier_capacity),
                                   death_frontier)) {
      block->flags = IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BLOCK_FLAG_TAINTED;
    }
  }
  giveBack(pool, block_index);
}

void iree_hal_memory_fixed_block_allocator_restore(iree_hal_memory_fixed_block_allocator_t* pool,
                                                   uint32_t block_index) {
  giveBack(pool, block_index);
}

void iree_hal_memory_fixed_block_allocator_query_stats(
    const iree_hal_memory_fixed_block_allocator_t* pool,
    iree_hal_memory_fixed_block_allocator_stats_t* out_stats) {
  out_stats->block_count = pool->block_count;
  out_stats->allocation_count =
      iree_atomic_load(&const_cast<Allocator*>(pool)->allocation_count, iree_memory_order_relaxed);
}

const iree_async_frontier_t* iree_hal_memory_fixed_block_allocator_block_death_frontier(
    const iree_hal_memory_fixed_block_allocator_t* pool, uint32_t block_index) {
  const iree_async_frontier_t* frontier = frontierOf(pool, block_index);
  return frontier->entry_count > 0 ? frontier : nullptr;
}

iree_hal_memory_fixed_block_allocator_block_flags_t
iree_hal_memory_fixed_block_allocator_block_flags(
    const iree_hal_memory_fixed_block_allocator_t* pool, uint32_t block_index) {
  return blockAt(pool, block_index)->flags;
}
