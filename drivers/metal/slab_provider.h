// Slabs for pools: large MTLBuffers that pools cut into buffers.
#pragma once

#include <memory>

#include "drivers/metal/device_memory.h"
#include "iree/hal/memory/slab_provider.h"

namespace bessemer::metal_driver {

/// `device` is what buffers say they are placed on; it is not retained.
iree_status_t CreateSlabProvider(iree_hal_device_t* device, std::shared_ptr<DeviceMemory> memory,
                                 iree_allocator_t host_allocator,
                                 iree_hal_slab_provider_t** out_provider);

} // namespace bessemer::metal_driver
