// The reference driver, as the conformance suite sees it.

#include "hal/cts/backend.h"
#include "iree/hal/drivers/host/registration/driver_module.h"

namespace {

using bessemer::hal::cts::createFromRegistry;
using bessemer::hal::cts::registerBackend;

[[maybe_unused]] const bool kRegistered = registerBackend({
    .name = "host",
    .create =
        [](const iree_hal_device_create_params_t* params, iree_hal_driver_t** out_driver,
           iree_hal_device_t** out_device) {
          return createFromRegistry(iree_hal_host_driver_module_register, "host", params,
                                    out_driver, out_device);
        },
    .exclusions = {},
});

// The suite's own command buffers must have the barriers that they need.
[[maybe_unused]] const bool kHazardsRegistered = registerBackend({
    .name = "host_hazards",
    .create = [](const iree_hal_device_create_params_t* params, iree_hal_driver_t** out_driver,
                 iree_hal_device_t** out_device) -> iree_status_t {
      iree_hal_device_t* unused = nullptr;
      IREE_RETURN_IF_ERROR(createFromRegistry(iree_hal_host_driver_module_register, "host", params,
                                              out_driver, &unused));
      iree_hal_device_release(unused);
      return iree_hal_driver_create_device_by_uri(*out_driver, IREE_SV("host://?hazards=find"),
                                                  params, iree_allocator_system(), out_device);
    },
    .exclusions = {},
});

} // namespace
