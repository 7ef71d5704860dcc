// Makes the driver "metal" known to a registry.
#ifndef BESSEMER_DRIVERS_METAL_REGISTRATION_DRIVER_MODULE_H_
#define BESSEMER_DRIVERS_METAL_REGISTRATION_DRIVER_MODULE_H_

#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// ALREADY_EXISTS when it was registered before.
IREE_API_EXPORT iree_status_t
iree_hal_metal_driver_module_register(iree_hal_driver_registry_t* registry);

#ifdef __cplusplus
}
#endif

#endif
