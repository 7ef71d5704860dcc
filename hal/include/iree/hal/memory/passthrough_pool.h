#ifndef IREE_HAL_MEMORY_PASSTHROUGH_POOL_H_
#define IREE_HAL_MEMORY_PASSTHROUGH_POOL_H_

#include "iree/base/api.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_notification_t iree_async_notification_t;

typedef struct iree_hal_passthrough_pool_options_t {
  iree_string_view_t trace_name;
} iree_hal_passthrough_pool_options_t;

/// Makes a pool that takes a slab for each reservation and keeps none.
iree_status_t iree_hal_passthrough_pool_create(iree_hal_passthrough_pool_options_t options,
                                               iree_hal_slab_provider_t* slab_provider,
                                               iree_async_notification_t* notification,
                                               iree_allocator_t host_allocator,
                                               iree_hal_pool_t** out_pool);

#ifdef __cplusplus
}
#endif
#endif
