// iree_hal_allocator_t of a Metal device.
#pragma once

#include <memory>

#include "drivers/metal/device_memory.h"
#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

/// `device` is what buffers say they are placed on; it is not retained.
iree_status_t CreateAllocator(iree_hal_device_t* device, std::shared_ptr<DeviceMemory> memory,
                              iree_allocator_t host_allocator,
                              iree_hal_allocator_t** out_allocator);

} // namespace bessemer::metal_driver
