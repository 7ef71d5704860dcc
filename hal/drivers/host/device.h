#pragma once

#include "iree/hal/device.h"

namespace bessemer::hal::host {

struct DeviceOptions {
  static constexpr uint32_t kMaxQueues = 8;

  uint32_t queueCount = 2;
  /// Fail command buffers that miss a barrier, see HazardChecker.
  bool findHazards = false;
};

/// Makes the device `identifier`.
iree_status_t createDevice(iree_string_view_t identifier, const DeviceOptions& options,
                           const iree_hal_device_create_params_t* createParams,
                           iree_allocator_t hostAllocator, iree_hal_device_t** out_device);

} // namespace bessemer::hal::host
