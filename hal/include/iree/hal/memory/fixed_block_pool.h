#ifndef IREE_HAL_MEMORY_FIXED_BLOCK_POOL_H_
#define IREE_HAL_MEMORY_FIXED_BLOCK_POOL_H_

#include "iree/async/notification.h"
#include "iree/base/api.h"
#include "iree/hal/memory/fixed_block_allocator.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/// `budget_limit` 0 is none.
typedef struct iree_hal_fixed_block_pool_options_t {
  iree_hal_memory_fixed_block_allocator_options_t block_allocator_options;
  iree_device_size_t budget_limit;
  iree_string_view_t trace_name;
} iree_hal_fixed_block_pool_options_t;

/// Makes a pool of equal blocks in one slab.
IREE_API_EXPORT iree_status_t iree_hal_fixed_block_pool_create(
    iree_hal_fixed_block_pool_options_t options, iree_hal_slab_provider_t* slab_provider,
    iree_async_notification_t* notification, iree_hal_pool_epoch_query_t epoch_query,
    iree_allocator_t host_allocator, iree_hal_pool_t** out_pool);

#ifdef __cplusplus
}
#endif
#endif
