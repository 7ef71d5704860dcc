#ifndef IREE_HAL_POOL_H_
#define IREE_HAL_POOL_H_

#include "iree/async/frontier.h"
#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_notification_t iree_async_notification_t;
typedef uint32_t iree_hal_pool_acquire_result_t;

/// OK: was used and is free now. OK_FRESH: never used. OK_NEEDS_WAIT: free once the wait frontier
/// is reached.
enum iree_hal_pool_acquire_result_e {
  IREE_HAL_POOL_ACQUIRE_OK = 0,
  IREE_HAL_POOL_ACQUIRE_OK_FRESH = 1,
  IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT = 2,
  IREE_HAL_POOL_ACQUIRE_EXHAUSTED = 3,
  IREE_HAL_POOL_ACQUIRE_OVER_BUDGET = 4,
};

/// Memory of a pool that is taken; opaque but for its length.
typedef struct iree_hal_pool_reservation_t {
  iree_device_size_t offset;
  iree_device_size_t length;
  uint64_t block_handle;
  uint16_t slab_index;
  uint16_t reserved[3];
} iree_hal_pool_reservation_t;

typedef uint32_t iree_hal_pool_reserve_flags_t;

/// ALLOW_WAIT_FRONTIER: OK_NEEDS_WAIT may be answered. DISALLOW_GROWTH: no new slabs.
enum iree_hal_pool_reserve_flag_bits_e {
  IREE_HAL_POOL_RESERVE_FLAG_NONE = 0u,
  IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER = 1u << 0,
  IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH = 1u << 1,
};
typedef uint32_t iree_hal_pool_acquire_flags_t;

enum iree_hal_pool_acquire_flag_bits_e {
  IREE_HAL_POOL_ACQUIRE_FLAG_NONE = 0u,
  IREE_HAL_POOL_ACQUIRE_FLAG_WAIT_FRONTIER_TAINTED = 1u << 0,
  IREE_HAL_POOL_ACQUIRE_FLAG_GROWTH_REQUIRED = 1u << 1,
};

/// More on an acquired reservation. `wait_frontier` lives until the reservation is released.
typedef struct iree_hal_pool_acquire_info_t {
  const iree_async_frontier_t* wait_frontier;
  iree_hal_pool_acquire_flags_t flags;
  uint32_t reserved;
} iree_hal_pool_acquire_info_t;

typedef uint32_t iree_hal_pool_materialize_flags_t;

/// TRANSFER_RESERVATION_OWNERSHIP: the buffer releases the reservation, without a frontier, when
/// it is destroyed.
enum iree_hal_pool_materialize_flag_bits_e {
  IREE_HAL_POOL_MATERIALIZE_FLAG_NONE = 0u,
  IREE_HAL_POOL_MATERIALIZE_FLAG_TRANSFER_RESERVATION_OWNERSHIP = 1u << 0,
};

typedef struct iree_hal_pool_capabilities_t {
  iree_hal_memory_type_t memory_type;
  iree_hal_buffer_usage_t supported_usage;
  iree_device_size_t min_allocation_size;
  iree_device_size_t max_allocation_size;
} iree_hal_pool_capabilities_t;

/// What a pool holds and has done.
typedef struct iree_hal_pool_stats_t {
  iree_device_size_t bytes_reserved;
  iree_device_size_t bytes_free;
  iree_device_size_t bytes_committed;
  iree_device_size_t budget_limit;
  uint32_t reservation_count;
  uint32_t slab_count;
  uint64_t reserve_count;
  uint64_t release_count;
  uint64_t reuse_count;
  uint64_t reuse_miss_count;
  uint64_t fresh_count;
  uint64_t exhausted_count;
  uint64_t over_budget_count;
  uint64_t wait_count;
} iree_hal_pool_stats_t;

/// Whether an axis has reached an epoch.
typedef bool(IREE_API_PTR* iree_hal_pool_epoch_query_fn_t)(void* user_data, iree_async_axis_t axis,
                                                           uint64_t epoch);

typedef struct iree_hal_pool_epoch_query_t {
  iree_hal_pool_epoch_query_fn_t fn;
  void* user_data;
} iree_hal_pool_epoch_query_t;

static inline iree_hal_pool_epoch_query_t iree_hal_pool_epoch_query_null(void) {
  iree_hal_pool_epoch_query_t query;
  query.fn = NULL;
  query.user_data = NULL;
  return query;
}

typedef struct iree_hal_pool_t iree_hal_pool_t;

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_pool_retain(iree_hal_pool_t* pool);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_pool_release(iree_hal_pool_t* pool);

/// Takes memory if there is some now; what happened is in `out_result`. `requester_frontier` tells
/// what has happened from where the requester stands.
IREE_API_EXPORT iree_status_t iree_hal_pool_acquire_reservation(
    iree_hal_pool_t* pool, iree_device_size_t size, iree_device_size_t alignment,
    const iree_async_frontier_t* requester_frontier, iree_hal_pool_reserve_flags_t flags,
    iree_hal_pool_reservation_t* out_reservation, iree_hal_pool_acquire_info_t* out_info,
    iree_hal_pool_acquire_result_t* out_result);

/// Gives memory back that is free once `death_frontier` is reached; null: now.
IREE_API_EXPORT void
iree_hal_pool_release_reservation(iree_hal_pool_t* pool,
                                  const iree_hal_pool_reservation_t* reservation,
                                  const iree_async_frontier_t* death_frontier);

/// Makes a buffer of a reservation. Buffers do not keep the pool alive.
IREE_API_EXPORT iree_status_t iree_hal_pool_materialize_reservation(
    iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
    const iree_hal_pool_reservation_t* reservation, iree_hal_pool_materialize_flags_t flags,
    iree_hal_buffer_t** out_buffer);

/// What the pool can serve.
IREE_API_EXPORT void
iree_hal_pool_query_capabilities(const iree_hal_pool_t* pool,
                                 iree_hal_pool_capabilities_t* out_capabilities);

/// What the pool holds and has done.
IREE_API_EXPORT void iree_hal_pool_query_stats(const iree_hal_pool_t* pool,
                                               iree_hal_pool_stats_t* out_stats);

/// Gives back slabs that nothing uses.
IREE_API_EXPORT iree_status_t iree_hal_pool_trim(iree_hal_pool_t* pool);

/// Signaled at every release; not retained.
IREE_API_EXPORT iree_async_notification_t* iree_hal_pool_notification(iree_hal_pool_t* pool);

/// Allocates on the host, waiting for releases until the timeout (DEADLINE_EXCEEDED).
IREE_API_EXPORT iree_status_t iree_hal_pool_allocate_buffer(
    iree_hal_pool_t* pool, iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
    const iree_async_frontier_t* requester_frontier, iree_timeout_t timeout,
    iree_hal_buffer_t** out_buffer);

typedef struct iree_hal_pool_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_pool_t* pool);
  iree_status_t(IREE_API_PTR* acquire_reservation)(iree_hal_pool_t* pool, iree_device_size_t size,
                                                   iree_device_size_t alignment,
                                                   const iree_async_frontier_t* requester_frontier,
                                                   iree_hal_pool_reserve_flags_t flags,
                                                   iree_hal_pool_reservation_t* out_reservation,
                                                   iree_hal_pool_acquire_info_t* out_info,
                                                   iree_hal_pool_acquire_result_t* out_result);
  void(IREE_API_PTR* release_reservation)(iree_hal_pool_t* pool,
                                          const iree_hal_pool_reservation_t* reservation,
                                          const iree_async_frontier_t* death_frontier);
  iree_status_t(IREE_API_PTR* materialize_reservation)(
      iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
      const iree_hal_pool_reservation_t* reservation, iree_hal_pool_materialize_flags_t flags,
      iree_hal_buffer_t** out_buffer);
  void(IREE_API_PTR* query_capabilities)(const iree_hal_pool_t* pool,
                                         iree_hal_pool_capabilities_t* out_capabilities);
  void(IREE_API_PTR* query_stats)(const iree_hal_pool_t* pool, iree_hal_pool_stats_t* out_stats);
  iree_status_t(IREE_API_PTR* trim)(iree_hal_pool_t* pool);
  iree_async_notification_t*(IREE_API_PTR* notification)(iree_hal_pool_t* pool);
} iree_hal_pool_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_pool_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_pool_destroy(iree_hal_pool_t* pool);

#ifdef __cplusplus
}
#endif
#endif
