#ifndef IREE_HAL_POOL_SET_H_
#define IREE_HAL_POOL_SET_H_

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Pools by priority.
typedef struct iree_hal_pool_set_t {
  iree_host_size_t entry_count;
  iree_host_size_t entry_capacity;
  struct iree_hal_pool_set_entry_t* entries;
  iree_allocator_t host_allocator;
} iree_hal_pool_set_t;

/// Starts an empty set.
iree_status_t iree_hal_pool_set_initialize(iree_host_size_t initial_capacity,
                                           iree_allocator_t host_allocator,
                                           iree_hal_pool_set_t* out_pool_set);

/// Releases the pools.
void iree_hal_pool_set_deinitialize(iree_hal_pool_set_t* pool_set);

/// Retains a pool and adds it; higher priorities are asked first, equal ones in order.
iree_status_t iree_hal_pool_set_register(iree_hal_pool_set_t* pool_set, int32_t priority,
                                         iree_hal_pool_t* pool);

/// The first pool that serves such requests, not retained, or null.
iree_hal_pool_t* iree_hal_pool_set_select(const iree_hal_pool_set_t* pool_set,
                                          iree_hal_buffer_params_t params,
                                          iree_device_size_t allocation_size);

/// Allocates from the first pool that serves such requests; NOT_FOUND.
iree_status_t iree_hal_pool_set_allocate_buffer(iree_hal_pool_set_t* pool_set,
                                                iree_hal_buffer_params_t params,
                                                iree_device_size_t allocation_size,
                                                const iree_async_frontier_t* requester_frontier,
                                                iree_timeout_t timeout,
                                                iree_hal_buffer_t** out_buffer);

#ifdef __cplusplus
}
#endif
#endif
