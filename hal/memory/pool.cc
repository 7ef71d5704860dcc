#include "iree/hal/pool.h"

#include <cstring>

#include "hal/hal/object.h"
#include "iree/async/notification.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_pool_vtable_t;

void iree_hal_pool_retain(iree_hal_pool_t* pool) { iree_hal_resource_retain(pool); }

void iree_hal_pool_release(iree_hal_pool_t* pool) { iree_hal_resource_release(pool); }

void iree_hal_pool_destroy(iree_hal_pool_t* pool) {
  if (pool)
    vtableOf<Vtable>(pool).destroy(pool);
}

iree_status_t iree_hal_pool_acquire_reservation(iree_hal_pool_t* pool, iree_device_size_t size,
                                                iree_device_size_t alignment,
                                                const iree_async_frontier_t* requester_frontier,
                                                iree_hal_pool_reserve_flags_t flags,
                                                iree_hal_pool_reservation_t* out_reservation,
                                                iree_hal_pool_acquire_info_t* out_info,
                                                iree_hal_pool_acquire_result_t* out_result) {
  std::memset(out_reservation, 0, sizeof(*out_reservation));
  std::memset(out_info, 0, sizeof(*out_info));
  *out_result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  return vtableOf<Vtable>(pool).acquire_reservation(pool, size, alignment, requester_frontier,
                                                    flags, out_reservation, out_info, out_result);
}

void iree_hal_pool_release_reservation(iree_hal_pool_t* pool,
                                       const iree_hal_pool_reservation_t* reservation,
                                       const iree_async_frontier_t* death_frontier) {
  vtableOf<Vtable>(pool).release_reservation(pool, reservation, death_frontier);
}

iree_status_t iree_hal_pool_materialize_reservation(iree_hal_pool_t* pool,
                                                    iree_hal_buffer_params_t params,
                                                    const iree_hal_pool_reservation_t* reservation,
                                                    iree_hal_pool_materialize_flags_t flags,
                                                    iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  iree_hal_buffer_params_canonicalize(&params);
  return vtableOf<Vtable>(pool).materialize_reservation(pool, params, reservation, flags,
                                                        out_buffer);
}

void iree_hal_pool_query_capabilities(const iree_hal_pool_t* pool,
                                      iree_hal_pool_capabilities_t* out_capabilities) {
  std::memset(out_capabilities, 0, sizeof(*out_capabilities));
  vtableOf<Vtable>(pool).query_capabilities(pool, out_capabilities);
}

void iree_hal_pool_query_stats(const iree_hal_pool_t* pool, iree_hal_pool_stats_t* out_stats) {
  std::memset(out_stats, 0, sizeof(*out_stats));
  vtableOf<Vtable>(pool).query_stats(pool, out_stats);
}

iree_status_t iree_hal_pool_trim(iree_hal_pool_t* pool) {
  return vtableOf<Vtable>(pool).trim(pool);
}

iree_async_notification_t* iree_hal_pool_notification(iree_hal_pool_t* pool) {
  return vtableOf<Vtable>(pool).notification(pool);
}

iree_status_t iree_hal_pool_allocate_buffer(iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                            iree_device_size_t allocation_size,
                                            const iree_async_frontier_t* requester_frontier,
                                            iree_timeout_t timeout,
                                            iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  iree_async_notification_t* notification = iree_hal_pool_notification(pool);
  iree_convert_timeout_to_absolute(&timeout);
  for (;;) {
    // Observing before the attempt means that no release after it is missed.
    const uint32_t token = iree_async_notification_begin_observe(notification);
    iree_hal_pool_reservation_t reservation;
    iree_hal_pool_acquire_info_t info;
    iree_hal_pool_acquire_result_t result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
    iree_status_t status = iree_hal_pool_acquire_reservation(
        pool, allocation_size, params.min_alignment, requester_frontier,
        IREE_HAL_POOL_RESERVE_FLAG_NONE, &reservation, &info, &result);
    bool released = true;
    if (iree_status_is_ok(status) && result >= IREE_HAL_POOL_ACQUIRE_EXHAUSTED) {
      released = iree_async_notification_wait_for_token(notification, token, timeout);
    }
    iree_async_notification_end_observe(notification);
    IREE_RETURN_IF_ERROR(status);
    switch (result) {
    case IREE_HAL_POOL_ACQUIRE_OK:
    case IREE_HAL_POOL_ACQUIRE_OK_FRESH:
      status = iree_hal_pool_materialize_reservation(
          pool, params, &reservation, IREE_HAL_POOL_MATERIALIZE_FLAG_TRANSFER_RESERVATION_OWNERSHIP,
          out_buffer);
      if (!iree_status_is_ok(status)) {
        iree_hal_pool_release_reservation(pool, &reservation, nullptr);
      }
      return status;
    case IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT:
      iree_hal_pool_release_reservation(pool, &reservation, info.wait_frontier);
      return iree_make_status(IREE_STATUS_INTERNAL,
                              "the pool asks for a wait that was not allowed");
    default:
      if (!released) {
        return iree_make_status(IREE_STATUS_DEADLINE_EXCEEDED,
                                "no %" PRIdsz " bytes came free in the pool in time",
                                allocation_size);
      }
      break;
    }
  }
}
