#ifndef IREE_HAL_DRIVERS_HOST_REGISTRATION_DRIVER_MODULE_H_
#define IREE_HAL_DRIVERS_HOST_REGISTRATION_DRIVER_MODULE_H_

#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Registers the driver "host": one device in host memory, for everything of the HAL but
/// executables. Parameters: `queues=1..8`, `hazards=find` to fail command buffers that miss a
/// barrier. Registering twice is ALREADY_EXISTS.
IREE_API_EXPORT iree_status_t
iree_hal_host_driver_module_register(iree_hal_driver_registry_t* registry);

#ifdef __cplusplus
}
#endif

#endif // IREE_HAL_DRIVERS_HOST_REGISTRATION_DRIVER_MODULE_H_
