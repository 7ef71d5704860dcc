// The Metal driver, as the conformance suite sees it.

#include "drivers/metal/registration/driver_module.h"
#include "hal/cts/backend.h"

namespace {

[[maybe_unused]] const bool kRegistered = bessemer::hal::cts::registerBackend({
    .name = "metal",
    .create =
        [](const iree_hal_device_create_params_t* params, iree_hal_driver_t** out_driver,
           iree_hal_device_t** out_device) {
          return bessemer::hal::cts::createFromRegistry(iree_hal_metal_driver_module_register,
                                                        "metal", params, out_driver, out_device);
        },
    .exclusions = {},
});

} // namespace
