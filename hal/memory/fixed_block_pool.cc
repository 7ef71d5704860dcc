// A pool of equal blocks in one slab.

#include "iree/hal/memory/fixed_block_pool.h"

#include <mutex>
#include <new>
#include <vector>

#include "hal/memory/reservation.h"

namespace {

using namespace bessemer::hal;

struct FixedBlockPool {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  iree_hal_slab_provider_t* provider;
  iree_async_notification_t* notification;
  iree_hal_pool_epoch_query_t epochs;
  iree_device_size_t budget;
  iree_hal_slab_t slab;
  iree_hal_memory_fixed_block_allocator_t* blocks;
  mutable std::mutex mutex;
  iree_hal_pool_stats_t stats = {};
};

FixedBlockPool* cast(iree_hal_pool_t* pool) { return reinterpret_cast<FixedBlockPool*>(pool); }

void destroy(iree_hal_pool_t* base) {
  FixedBlockPool* pool = cast(base);
  iree_allocator_t hostAllocator = pool->hostAllocator;
  if (pool->blocks) {
    iree_hal_memory_fixed_block_allocator_free(pool->blocks);
    iree_hal_slab_provider_release_slab(pool->provider, &pool->slab);
  }
  iree_hal_slab_provider_release(pool->provider);
  iree_async_notification_release(pool->notification);
  pool->~FixedBlockPool();
  iree_allocator_free(hostAllocator, pool);
}

/// The free blocks that were looked at and not taken; they go back when the search is over, since
/// giving one back at once would find it again.
class PassedOver {
public:
  explicit PassedOver(iree_hal_memory_fixed_block_allocator_t* blocks) : blocks_(blocks) {}
  ~PassedOver() {
    for (uint32_t index : indices_)
      iree_hal_memory_fixed_block_allocator_restore(blocks_, index);
  }
  void add(uint32_t index) { indices_.push_back(index); }

private:
  iree_hal_memory_fixed_block_allocator_t* blocks_;
  std::vector<uint32_t> indices_;
};

iree_status_t acquire(iree_hal_pool_t* base, iree_device_size_t size, iree_device_size_t alignment,
                      const iree_async_frontier_t* requester, iree_hal_pool_reserve_flags_t flags,
                      iree_hal_pool_reservation_t* out_reservation,
                      iree_hal_pool_acquire_info_t* out_info,
                      iree_hal_pool_acquire_result_t* out_result) {
  FixedBlockPool* pool = cast(base);
  const iree_device_size_t blockSize = pool->blocks->block_size;
  IREE_RETURN_IF_ERROR(checkRequest(size, alignment));
  if (size > blockSize) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%" PRIdsz " bytes asked of a pool of %" PRIdsz "-byte blocks", size,
                            blockSize);
  }
  if (alignment > 1 && blockSize % alignment != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "blocks of %" PRIdsz " bytes are not aligned to %" PRIdsz, blockSize,
                            alignment);
  }
  std::lock_guard lock(pool->mutex);
  ++pool->stats.reserve_count;
  if (pool->budget && pool->stats.bytes_reserved + blockSize > pool->budget) {
    ++pool->stats.over_budget_count;
    *out_result = IREE_HAL_POOL_ACQUIRE_OVER_BUDGET;
    return iree_ok_status();
  }
  auto take = [&](const iree_hal_memory_fixed_block_allocator_allocation_t& block,
                  iree_hal_pool_acquire_result_t result) {
    out_reservation->offset = block.offset;
    out_reservation->length = size;
    out_reservation->block_handle = block.block_index;
    pool->stats.bytes_reserved += blockSize;
    ++pool->stats.reservation_count;
    *out_result = result;
    return iree_ok_status();
  };

  PassedOver passedOver(pool->blocks);
  iree_hal_memory_fixed_block_allocator_allocation_t stale = {};
  bool haveStale = false;
  for (;;) {
    iree_hal_memory_fixed_block_allocator_allocation_t block;
    iree_hal_memory_fixed_block_allocator_acquire_result_t result;
    IREE_RETURN_IF_ERROR(
        iree_hal_memory_fixed_block_allocator_try_acquire(pool->blocks, &block, &result));
    if (result != IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_OK)
      break;
    const bool tainted = iree_any_bit_set(block.block_flags,
                                          IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BLOCK_FLAG_TAINTED);
    if (!tainted && !block.death_frontier) {
      if (haveStale)
        passedOver.add(stale.block_index);
      ++pool->stats.fresh_count;
      return take(block, IREE_HAL_POOL_ACQUIRE_OK_FRESH);
    }
    if (!tainted && isReusable(block.death_frontier, requester, pool->epochs)) {
      if (haveStale)
        passedOver.add(stale.block_index);
      ++pool->stats.reuse_count;
      return take(block, IREE_HAL_POOL_ACQUIRE_OK);
    }
    ++pool->stats.reuse_miss_count;
    if (haveStale) {
      passedOver.add(block.block_index);
    } else {
      stale = block;
      haveStale = true;
    }
  }
  if (haveStale && iree_any_bit_set(flags, IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER)) {
    // The frontier lies in the block's own record, which stays until the block is released.
    out_info->wait_frontier = stale.death_frontier;
    if (iree_any_bit_set(stale.block_flags,
                         IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_BLOCK_FLAG_TAINTED)) {
      out_info->flags |= IREE_HAL_POOL_ACQUIRE_FLAG_WAIT_FRONTIER_TAINTED;
    }
    ++pool->stats.wait_count;
    return take(stale, IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT);
  }
  if (haveStale)
    passedOver.add(stale.block_index);
  ++pool->stats.exhausted_count;
  *out_result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  return iree_ok_status();
}

void release(iree_hal_pool_t* base, const iree_hal_pool_reservation_t* reservation,
             const iree_async_frontier_t* deathFrontier) {
  FixedBlockPool* pool = cast(base);
  {
    std::lock_guard lock(pool->mutex);
    iree_hal_memory_fixed_block_allocator_release(
        pool->blocks, static_cast<uint32_t>(reservation->block_handle), deathFrontier);
    pool->stats.bytes_reserved -= pool->blocks->block_size;
    --pool->stats.reservation_count;
    ++pool->stats.release_count;
  }
  iree_async_notification_signal(pool->notification, INT32_MAX);
}

iree_status_t materialize(iree_hal_pool_t* base, iree_hal_buffer_params_t params,
                          const iree_hal_pool_reservation_t* reservation,
                          iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  FixedBlockPool* pool = cast(base);
  return wrapReservation(base, pool->provider, pool->slab, *reservation, params, flags,
                         pool->hostAllocator, out_buffer);
}

void queryCapabilities(const iree_hal_pool_t* base,
                       iree_hal_pool_capabilities_t* out_capabilities) {
  const auto* pool = reinterpret_cast<const FixedBlockPool*>(base);
  iree_hal_slab_provider_query_properties(pool->provider, &out_capabilities->memory_type,
                                          &out_capabilities->supported_usage);
  out_capabilities->min_allocation_size = 1;
  out_capabilities->max_allocation_size = pool->blocks->block_size;
}

void queryStats(const iree_hal_pool_t* base, iree_hal_pool_stats_t* out_stats) {
  const auto* pool = reinterpret_cast<const FixedBlockPool*>(base);
  std::lock_guard lock(pool->mutex);
  *out_stats = pool->stats;
  out_stats->bytes_committed = pool->slab.length;
  out_stats->bytes_free =
      pool->blocks->block_size * pool->blocks->block_count - pool->stats.bytes_reserved;
  out_stats->budget_limit = pool->budget;
  out_stats->slab_count = 1;
}

iree_status_t trim(iree_hal_pool_t* base) {
  iree_hal_slab_provider_trim(cast(base)->provider, IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_EXCESS);
  return iree_ok_status();
}

iree_async_notification_t* notification(iree_hal_pool_t* base) { return cast(base)->notification; }

const iree_hal_pool_vtable_t kVtable = {
    .destroy = destroy,
    .acquire_reservation = acquire,
    .release_reservation = release,
    .materialize_reservation = materialize,
    .query_capabilities = queryCapabilities,
    .query_stats = queryStats,
    .trim = trim,
    .notification = notification,
};

} // namespace

iree_status_t iree_hal_fixed_block_pool_create(iree_hal_fixed_block_pool_options_t options,
                                               iree_hal_slab_provider_t* slab_provider,
                                               iree_async_notification_t* notification,
                                               iree_hal_pool_epoch_query_t epoch_query,
                                               iree_allocator_t host_allocator,
                                               iree_hal_pool_t** out_pool) {
  *out_pool = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(FixedBlockPool), &storage));
  auto* pool = new (storage) FixedBlockPool();
  iree_hal_resource_initialize(&kVtable, &pool->resource);
  pool->hostAllocator = host_allocator;
  pool->provider = slab_provider;
  iree_hal_slab_provider_retain(slab_provider);
  pool->notification = notification;
  iree_async_notification_retain(notification);
  pool->epochs = epoch_query;
  pool->budget = options.budget_limit;
  iree_hal_memory_fixed_block_allocator_t* blocks = nullptr;
  iree_status_t status = iree_hal_memory_fixed_block_allocator_allocate(
      options.block_allocator_options, host_allocator, &blocks);
  if (iree_status_is_ok(status)) {
    iree_device_size_t length = 0;
    if (!iree_device_size_checked_mul(blocks->block_size, blocks->block_count, &length)) {
      status = iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the blocks' size in bytes overflows");
    } else {
      status = iree_hal_slab_provider_acquire_slab(slab_provider, length, &pool->slab);
    }
    if (!iree_status_is_ok(status))
      iree_hal_memory_fixed_block_allocator_free(blocks);
  }
  if (!iree_status_is_ok(status)) {
    destroy(reinterpret_cast<iree_hal_pool_t*>(pool));
    return status;
  }
  pool->blocks = blocks;
  *out_pool = reinterpret_cast<iree_hal_pool_t*>(pool);
  return iree_ok_status();
}
