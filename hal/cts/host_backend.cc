// The reference driver, as the conformance suite sees it.

#include "hal/cts/backend.h"
#include "iree/hal/drivers/host/registration/driver_module.h"

namespace {

[[maybe_unused]] const bool kRegistered = bessemer::hal::cts::registerBackend({
    .name = "host",
    .create =
        [](const iree_hal_device_create_params_t* params, iree_hal_driver_t** out_driver,
           iree_hal_device_t** out_device) {
          return bessemer::hal::cts::createFromRegistry(iree_hal_host_driver_module_register,
                                                        "host", params, out_driver, out_device);
        },
    .exclusions = {},
});

} // namespace
