// A pool that keeps nothing: each reservation is a slab of its own.

#include "iree/hal/memory/passthrough_pool.h"

#include <mutex>
#include <new>
#include <unordered_map>

#include "hal/memory/reservation.h"
#include "iree/async/notification.h"

namespace {

using namespace bessemer::hal;

struct PassthroughPool {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  iree_hal_slab_provider_t* provider;
  iree_async_notification_t* notification;
  mutable std::mutex mutex;
  /// Slabs of live reservations by their block handle.
  std::unordered_map<uint64_t, iree_hal_slab_t> slabs;
  uint64_t nextHandle = 1;
  iree_hal_pool_stats_t stats = {};
};

PassthroughPool* cast(iree_hal_pool_t* pool) { return reinterpret_cast<PassthroughPool*>(pool); }

void destroy(iree_hal_pool_t* base) {
  PassthroughPool* pool = cast(base);
  iree_allocator_t hostAllocator = pool->hostAllocator;
  for (const auto& [handle, slab] : pool->slabs) {
    iree_hal_slab_provider_release_slab(pool->provider, &slab);
  }
  iree_hal_slab_provider_release(pool->provider);
  iree_async_notification_release(pool->notification);
  pool->~PassthroughPool();
  iree_allocator_free(hostAllocator, pool);
}

iree_status_t acquire(iree_hal_pool_t* base, iree_device_size_t size, iree_device_size_t alignment,
                      const iree_async_frontier_t*, iree_hal_pool_reserve_flags_t flags,
                      iree_hal_pool_reservation_t* out_reservation,
                      iree_hal_pool_acquire_info_t* out_info,
                      iree_hal_pool_acquire_result_t* out_result) {
  PassthroughPool* pool = cast(base);
  IREE_RETURN_IF_ERROR(checkRequest(size, alignment));
  if (iree_any_bit_set(flags, IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH)) {
    // There is nothing but growth here.
    out_info->flags |= IREE_HAL_POOL_ACQUIRE_FLAG_GROWTH_REQUIRED;
    std::lock_guard lock(pool->mutex);
    ++pool->stats.reserve_count;
    ++pool->stats.exhausted_count;
    *out_result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
    return iree_ok_status();
  }
  iree_hal_slab_t slab;
  IREE_RETURN_IF_ERROR(iree_hal_slab_provider_acquire_slab(pool->provider, size, &slab));
  if (alignment && slab.base_ptr && reinterpret_cast<uintptr_t>(slab.base_ptr) % alignment != 0) {
    iree_hal_slab_provider_release_slab(pool->provider, &slab);
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "slabs are not aligned to %" PRIdsz " bytes", alignment);
  }
  std::lock_guard lock(pool->mutex);
  const uint64_t handle = pool->nextHandle++;
  pool->slabs.emplace(handle, slab);
  out_reservation->length = size;
  out_reservation->block_handle = handle;
  pool->stats.bytes_reserved += slab.length;
  ++pool->stats.reservation_count;
  ++pool->stats.reserve_count;
  ++pool->stats.fresh_count;
  *out_result = IREE_HAL_POOL_ACQUIRE_OK_FRESH;
  return iree_ok_status();
}

void release(iree_hal_pool_t* base, const iree_hal_pool_reservation_t* reservation,
             const iree_async_frontier_t*) {
  PassthroughPool* pool = cast(base);
  iree_hal_slab_t slab;
  {
    std::lock_guard lock(pool->mutex);
    auto it = pool->slabs.find(reservation->block_handle);
    if (it == pool->slabs.end())
      return;
    slab = it->second;
    pool->slabs.erase(it);
    pool->stats.bytes_reserved -= slab.length;
    --pool->stats.reservation_count;
    ++pool->stats.release_count;
  }
  iree_hal_slab_provider_release_slab(pool->provider, &slab);
  iree_async_notification_signal(pool->notification, INT32_MAX);
}

iree_status_t materialize(iree_hal_pool_t* base, iree_hal_buffer_params_t params,
                          const iree_hal_pool_reservation_t* reservation,
                          iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  PassthroughPool* pool = cast(base);
  iree_hal_slab_t slab;
  {
    std::lock_guard lock(pool->mutex);
    auto it = pool->slabs.find(reservation->block_handle);
    if (it == pool->slabs.end()) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the reservation is not of this pool");
    }
    slab = it->second;
  }
  return wrapReservation(base, pool->provider, slab, *reservation, params, flags,
                         pool->hostAllocator, out_buffer);
}

void queryCapabilities(const iree_hal_pool_t* base,
                       iree_hal_pool_capabilities_t* out_capabilities) {
  const auto* pool = reinterpret_cast<const PassthroughPool*>(base);
  iree_hal_slab_provider_query_properties(pool->provider, &out_capabilities->memory_type,
                                          &out_capabilities->supported_usage);
  out_capabilities->min_allocation_size = 1;
}

void queryStats(const iree_hal_pool_t* base, iree_hal_pool_stats_t* out_stats) {
  const auto* pool = reinterpret_cast<const PassthroughPool*>(base);
  std::lock_guard lock(pool->mutex);
  *out_stats = pool->stats;
  out_stats->bytes_committed = pool->stats.bytes_reserved;
  out_stats->slab_count = static_cast<uint32_t>(pool->slabs.size());
}

iree_status_t trim(iree_hal_pool_t* base) {
  iree_hal_slab_provider_trim(cast(base)->provider, IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_ALL);
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

iree_status_t iree_hal_passthrough_pool_create(iree_hal_passthrough_pool_options_t,
                                               iree_hal_slab_provider_t* slab_provider,
                                               iree_async_notification_t* notification,
                                               iree_allocator_t host_allocator,
                                               iree_hal_pool_t** out_pool) {
  *out_pool = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(PassthroughPool), &storage));
  auto* pool = new (storage) PassthroughPool();
  iree_hal_resource_initialize(&kVtable, &pool->resource);
  pool->hostAllocator = host_allocator;
  pool->provider = slab_provider;
  iree_hal_slab_provider_retain(slab_provider);
  pool->notification = notification;
  iree_async_notification_retain(notification);
  *out_pool = reinterpret_cast<iree_hal_pool_t*>(pool);
  return iree_ok_status();
}
