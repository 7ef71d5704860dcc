// iree_hal_command_buffer_t: records into a command list.
#pragma once

#include <memory>

#include "drivers/metal/command_list.h"
#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

iree_status_t
CreateCommandBuffer(iree_hal_allocator_t* device_allocator, iree_hal_command_buffer_mode_t mode,
                    iree_hal_command_category_t command_categories,
                    iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                    std::unique_ptr<CommandList> list, iree_allocator_t host_allocator,
                    iree_hal_command_buffer_t** out_command_buffer);

/// NULL for command buffers of other drivers.
const CommandList* CommandListOf(iree_hal_command_buffer_t* command_buffer);

} // namespace bessemer::metal_driver
