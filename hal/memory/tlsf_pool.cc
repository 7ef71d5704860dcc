// A pool of blocks of any size in slabs, one TLSF range per slab. Memory that a requester would
// have to wait for is passed over as long as the pool may grow.

#include "iree/hal/memory/tlsf_pool.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "hal/memory/reservation.h"

namespace {

using namespace bessemer::hal;

struct Slab {
  iree_hal_slab_t memory = {};
  iree_hal_memory_tlsf_t tlsf = {};
  bool isLive = false;
};

/// A wait frontier handed out; it lives apart from the TLSF records, which move when they grow.
struct HeldFrontier {
  uint64_t key;
  std::unique_ptr<uint64_t[]> storage;
};

struct TlsfPool {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  iree_hal_slab_provider_t* provider;
  iree_async_notification_t* notification;
  iree_hal_pool_epoch_query_t epochs;
  iree_hal_memory_tlsf_options_t options;
  iree_device_size_t budget;
  mutable std::mutex mutex;
  /// Indexed by reservation.slab_index; trimmed slabs leave a hole for the next one.
  std::vector<std::unique_ptr<Slab>> slabs;
  std::vector<HeldFrontier> heldFrontiers;
  iree_hal_pool_stats_t stats = {};
};

TlsfPool* cast(iree_hal_pool_t* pool) { return reinterpret_cast<TlsfPool*>(pool); }

void releaseSlab(TlsfPool* pool, Slab& slab) {
  iree_hal_memory_tlsf_deinitialize(&slab.tlsf);
  iree_hal_slab_provider_release_slab(pool->provider, &slab.memory);
  pool->stats.bytes_committed -= slab.memory.length;
  --pool->stats.slab_count;
  slab.isLive = false;
}

void destroy(iree_hal_pool_t* base) {
  TlsfPool* pool = cast(base);
  iree_allocator_t hostAllocator = pool->hostAllocator;
  for (auto& slab : pool->slabs) {
    if (slab->isLive)
      releaseSlab(pool, *slab);
  }
  iree_hal_slab_provider_release(pool->provider);
  iree_async_notification_release(pool->notification);
  pool->~TlsfPool();
  iree_allocator_free(hostAllocator, pool);
}

uint64_t keyOf(uint16_t slab, uint64_t block) { return uint64_t{slab} << 32 | block; }

iree_status_t grow(TlsfPool* pool, iree_device_size_t minLength, size_t* out_index) {
  auto hole = std::ranges::find_if(pool->slabs, [](const auto& slab) { return !slab->isLive; });
  if (hole == pool->slabs.end()) {
    if (pool->slabs.size() > UINT16_MAX) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the pool has too many slabs");
    }
    pool->slabs.push_back(std::make_unique<Slab>());
    hole = pool->slabs.end() - 1;
  }
  Slab& slab = **hole;
  iree_hal_memory_tlsf_options_t options = pool->options;
  // Blocks are multiples of the alignment, so the slab must hold the request rounded up.
  if (!iree_device_size_checked_align(minLength, options.alignment, &minLength)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the slab's size in bytes overflows");
  }
  options.range_length = std::max(options.range_length, minLength);
  IREE_RETURN_IF_ERROR(
      iree_hal_slab_provider_acquire_slab(pool->provider, options.range_length, &slab.memory));
  options.range_length = slab.memory.length;
  iree_status_t status = iree_hal_memory_tlsf_initialize(options, pool->hostAllocator, &slab.tlsf);
  if (!iree_status_is_ok(status)) {
    iree_hal_slab_provider_release_slab(pool->provider, &slab.memory);
    return status;
  }
  slab.isLive = true;
  pool->stats.bytes_committed += slab.memory.length;
  ++pool->stats.slab_count;
  *out_index = hole - pool->slabs.begin();
  return iree_ok_status();
}

/// Where a reservation was found.
struct Candidate {
  size_t slab;
  iree_hal_memory_tlsf_allocation_t block;

  bool isTainted() const {
    return iree_any_bit_set(block.block_flags, IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED);
  }
};

iree_status_t acquire(iree_hal_pool_t* base, iree_device_size_t size, iree_device_size_t alignment,
                      const iree_async_frontier_t* requester, iree_hal_pool_reserve_flags_t flags,
                      iree_hal_pool_reservation_t* out_reservation,
                      iree_hal_pool_acquire_info_t* out_info,
                      iree_hal_pool_acquire_result_t* out_result) {
  TlsfPool* pool = cast(base);
  IREE_RETURN_IF_ERROR(checkRequest(size, alignment));
  // A block that is aligned less has an aligned address within the bytes that it is longer.
  alignment = std::max(alignment, pool->options.alignment);
  iree_device_size_t needed = 0;
  if (!iree_device_size_checked_add(size, alignment - pool->options.alignment, &needed)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "size %" PRIdsz " overflows", size);
  }
  std::lock_guard lock(pool->mutex);
  ++pool->stats.reserve_count;
  if (pool->budget && pool->stats.bytes_reserved + size > pool->budget) {
    ++pool->stats.over_budget_count;
    *out_result = IREE_HAL_POOL_ACQUIRE_OVER_BUDGET;
    return iree_ok_status();
  }
  auto take = [&](const Candidate& candidate, iree_hal_pool_acquire_result_t result) {
    out_reservation->offset = iree_device_align(candidate.block.offset, alignment);
    out_reservation->length = size;
    out_reservation->block_handle = candidate.block.block_index;
    out_reservation->slab_index = static_cast<uint16_t>(candidate.slab);
    pool->stats.bytes_reserved += candidate.block.length;
    ++pool->stats.reservation_count;
    *out_result = result;
    return iree_ok_status();
  };

  // One candidate per slab: the first fit. A stale one is kept aside while others are tried.
  Candidate stale = {};
  bool haveStale = false;
  auto putBackStale = [&] {
    if (haveStale) {
      iree_hal_memory_tlsf_restore(&pool->slabs[stale.slab]->tlsf, stale.block.block_index);
    }
  };
  for (size_t i = 0; i < pool->slabs.size(); ++i) {
    if (!pool->slabs[i]->isLive)
      continue;
    Candidate candidate = {i, {}};
    iree_hal_memory_tlsf_allocate_result_t result;
    iree_status_t status =
        iree_hal_memory_tlsf_try_allocate(&pool->slabs[i]->tlsf, needed, &candidate.block, &result);
    if (!iree_status_is_ok(status)) {
      putBackStale();
      return status;
    }
    if (result != IREE_HAL_MEMORY_TLSF_ALLOCATE_OK)
      continue;
    if (!candidate.isTainted() && !candidate.block.death_frontier) {
      putBackStale();
      ++pool->stats.fresh_count;
      return take(candidate, IREE_HAL_POOL_ACQUIRE_OK_FRESH);
    }
    if (!candidate.isTainted() &&
        isReusable(candidate.block.death_frontier, requester, pool->epochs)) {
      putBackStale();
      ++pool->stats.reuse_count;
      return take(candidate, IREE_HAL_POOL_ACQUIRE_OK);
    }
    ++pool->stats.reuse_miss_count;
    if (haveStale) {
      iree_hal_memory_tlsf_restore(&pool->slabs[i]->tlsf, candidate.block.block_index);
    } else {
      stale = candidate;
      haveStale = true;
    }
  }

  if (!iree_any_bit_set(flags, IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH)) {
    Candidate fresh = {};
    iree_status_t status = grow(pool, needed, &fresh.slab);
    if (iree_status_is_ok(status)) {
      status = iree_hal_memory_tlsf_allocate(&pool->slabs[fresh.slab]->tlsf, needed, &fresh.block);
    }
    if (iree_status_is_ok(status)) {
      putBackStale();
      ++pool->stats.fresh_count;
      return take(fresh, IREE_HAL_POOL_ACQUIRE_OK_FRESH);
    }
    if (!haveStale || !iree_status_is_resource_exhausted(status)) {
      putBackStale();
      return status;
    }
    iree_status_ignore(status);
  } else {
    out_info->flags |= IREE_HAL_POOL_ACQUIRE_FLAG_GROWTH_REQUIRED;
  }

  if (haveStale && iree_any_bit_set(flags, IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER)) {
    out_info->flags &= ~IREE_HAL_POOL_ACQUIRE_FLAG_GROWTH_REQUIRED;
    if (stale.isTainted())
      out_info->flags |= IREE_HAL_POOL_ACQUIRE_FLAG_WAIT_FRONTIER_TAINTED;
    if (const iree_async_frontier_t* frontier = stale.block.death_frontier) {
      const size_t byteCount =
          sizeof(*frontier) + frontier->entry_count * sizeof(iree_async_frontier_entry_t);
      HeldFrontier held = {keyOf(static_cast<uint16_t>(stale.slab), stale.block.block_index),
                           std::make_unique<uint64_t[]>(byteCount / sizeof(uint64_t) + 1)};
      std::memcpy(held.storage.get(), frontier, byteCount);
      out_info->wait_frontier = reinterpret_cast<const iree_async_frontier_t*>(held.storage.get());
      pool->heldFrontiers.push_back(std::move(held));
    }
    ++pool->stats.wait_count;
    return take(stale, IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT);
  }
  putBackStale();
  ++pool->stats.exhausted_count;
  *out_result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  return iree_ok_status();
}

void release(iree_hal_pool_t* base, const iree_hal_pool_reservation_t* reservation,
             const iree_async_frontier_t* deathFrontier) {
  TlsfPool* pool = cast(base);
  {
    std::lock_guard lock(pool->mutex);
    iree_hal_memory_tlsf_t& tlsf = pool->slabs[reservation->slab_index]->tlsf;
    const auto block = static_cast<iree_hal_memory_tlsf_block_index_t>(reservation->block_handle);
    const iree_device_size_t allocated = tlsf.bytes_allocated;
    iree_hal_memory_tlsf_free(&tlsf, block, deathFrontier);
    pool->stats.bytes_reserved -= allocated - tlsf.bytes_allocated;
    --pool->stats.reservation_count;
    ++pool->stats.release_count;
    std::erase_if(pool->heldFrontiers,
                  [key = keyOf(reservation->slab_index, reservation->block_handle)](
                      const HeldFrontier& held) { return held.key == key; });
  }
  iree_async_notification_signal(pool->notification, INT32_MAX);
}

iree_status_t materialize(iree_hal_pool_t* base, iree_hal_buffer_params_t params,
                          const iree_hal_pool_reservation_t* reservation,
                          iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  TlsfPool* pool = cast(base);
  iree_hal_slab_t slab;
  {
    std::lock_guard lock(pool->mutex);
    if (reservation->slab_index >= pool->slabs.size() ||
        !pool->slabs[reservation->slab_index]->isLive) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the reservation is not of this pool");
    }
    slab = pool->slabs[reservation->slab_index]->memory;
  }
  return wrapReservation(base, pool->provider, slab, *reservation, params, flags,
                         pool->hostAllocator, out_buffer);
}

void queryCapabilities(const iree_hal_pool_t* base,
                       iree_hal_pool_capabilities_t* out_capabilities) {
  const auto* pool = reinterpret_cast<const TlsfPool*>(base);
  iree_hal_slab_provider_query_properties(pool->provider, &out_capabilities->memory_type,
                                          &out_capabilities->supported_usage);
  out_capabilities->min_allocation_size = 1;
}

void queryStats(const iree_hal_pool_t* base, iree_hal_pool_stats_t* out_stats) {
  const auto* pool = reinterpret_cast<const TlsfPool*>(base);
  std::lock_guard lock(pool->mutex);
  *out_stats = pool->stats;
  out_stats->bytes_free = pool->stats.bytes_committed - pool->stats.bytes_reserved;
  out_stats->budget_limit = pool->budget;
}

iree_status_t trim(iree_hal_pool_t* base) {
  TlsfPool* pool = cast(base);
  std::lock_guard lock(pool->mutex);
  for (auto& slab : pool->slabs) {
    if (!slab->isLive || slab->tlsf.allocation_count > 0)
      continue;
    // A slab goes only when nothing can still be using it on a device.
    bool idle = true;
    for (iree_host_size_t i = 0; i < slab->tlsf.block_count && idle; ++i) {
      const auto index = static_cast<iree_hal_memory_tlsf_block_index_t>(i);
      const auto flags = iree_hal_memory_tlsf_block_flags(&slab->tlsf, index);
      if (!iree_any_bit_set(flags, IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_FREE))
        continue;
      idle = !iree_any_bit_set(flags, IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED) &&
             isReusable(iree_hal_memory_tlsf_block_death_frontier(&slab->tlsf, index), nullptr,
                        pool->epochs);
    }
    if (idle)
      releaseSlab(pool, *slab);
  }
  iree_hal_slab_provider_trim(pool->provider, IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_EXCESS);
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

iree_status_t iree_hal_tlsf_pool_create(iree_hal_tlsf_pool_options_t options,
                                        iree_hal_slab_provider_t* slab_provider,
                                        iree_async_notification_t* notification,
                                        iree_hal_pool_epoch_query_t epoch_query,
                                        iree_allocator_t host_allocator,
                                        iree_hal_pool_t** out_pool) {
  *out_pool = nullptr;
  if (options.tlsf_options.alignment == 0) {
    options.tlsf_options.alignment = IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT;
  }
  // Options that no slab could be made with are told of now.
  iree_hal_memory_tlsf_t probe;
  IREE_RETURN_IF_ERROR(
      iree_hal_memory_tlsf_initialize(options.tlsf_options, host_allocator, &probe));
  iree_hal_memory_tlsf_deinitialize(&probe);
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(TlsfPool), &storage));
  auto* pool = new (storage) TlsfPool();
  iree_hal_resource_initialize(&kVtable, &pool->resource);
  pool->hostAllocator = host_allocator;
  pool->provider = slab_provider;
  iree_hal_slab_provider_retain(slab_provider);
  pool->notification = notification;
  iree_async_notification_retain(notification);
  pool->epochs = epoch_query;
  pool->options = options.tlsf_options;
  pool->budget = options.budget_limit;
  *out_pool = reinterpret_cast<iree_hal_pool_t*>(pool);
  return iree_ok_status();
}
