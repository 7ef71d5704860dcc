#ifndef IREE_HAL_UTILS_DEFERRED_COMMAND_BUFFER_H_
#define IREE_HAL_UTILS_DEFERRED_COMMAND_BUFFER_H_

#include "iree/base/api.h"
#include "iree/hal/command_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_arena_block_pool_t iree_arena_block_pool_t;

/// Makes a command buffer that keeps its commands in memory, from `block_pool`, to be replayed.
IREE_API_EXPORT iree_status_t iree_hal_deferred_command_buffer_create(
    iree_hal_allocator_t* device_allocator, iree_hal_command_buffer_mode_t mode,
    iree_hal_command_category_t command_categories, iree_hal_queue_affinity_t queue_affinity,
    iree_host_size_t binding_capacity, iree_arena_block_pool_t* block_pool,
    iree_allocator_t host_allocator, iree_hal_command_buffer_t** out_command_buffer);

/// Whether a command buffer is of this kind.
IREE_API_EXPORT bool
iree_hal_deferred_command_buffer_isa(iree_hal_command_buffer_t* command_buffer);

/// Records the commands into `target_command_buffer`, begin and end included, with slots resolved
/// through the table. May run on several threads at once.
IREE_API_EXPORT iree_status_t iree_hal_deferred_command_buffer_apply(
    iree_hal_command_buffer_t* command_buffer, iree_hal_command_buffer_t* target_command_buffer,
    iree_hal_buffer_binding_table_t binding_table);

#ifdef __cplusplus
}
#endif
#endif
