#ifndef IREE_HAL_DRIVER_REGISTRY_H_
#define IREE_HAL_DRIVER_REGISTRY_H_

#include "iree/base/api.h"
#include "iree/hal/driver.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Makes drivers. It is borrowed: it must stay until it is unregistered.
typedef struct iree_hal_driver_factory_t {
  IREE_API_UNSTABLE
  void* self;
  iree_status_t(IREE_API_PTR* enumerate)(void* self, iree_host_size_t* out_driver_info_count,
                                         const iree_hal_driver_info_t** out_driver_infos);
  iree_status_t(IREE_API_PTR* try_create)(void* self, iree_string_view_t driver_name,
                                          iree_allocator_t host_allocator,
                                          iree_hal_driver_t** out_driver);
} iree_hal_driver_factory_t;

typedef struct iree_hal_driver_registry_t iree_hal_driver_registry_t;

/// The registry of the process.
IREE_API_EXPORT iree_hal_driver_registry_t* iree_hal_driver_registry_default(void);

/// Makes a registry of its own.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_allocate(
    iree_allocator_t host_allocator, iree_hal_driver_registry_t** out_registry);

/// Frees what iree_hal_driver_registry_allocate made.
IREE_API_EXPORT void iree_hal_driver_registry_free(iree_hal_driver_registry_t* registry);

/// Adds a factory: ALREADY_EXISTS when it is there, RESOURCE_EXHAUSTED beyond 16.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_register_factory(
    iree_hal_driver_registry_t* registry, const iree_hal_driver_factory_t* factory);

/// Removes a factory; NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_unregister_factory(
    iree_hal_driver_registry_t* registry, const iree_hal_driver_factory_t* factory);

/// Lists the drivers in one block that the caller frees.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_enumerate(
    iree_hal_driver_registry_t* registry, iree_allocator_t host_allocator,
    iree_host_size_t* out_driver_info_count, iree_hal_driver_info_t** out_driver_infos);

/// Makes a driver by name, by the factory registered last that has it; NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_try_create(
    iree_hal_driver_registry_t* registry, iree_string_view_t driver_name,
    iree_allocator_t host_allocator, iree_hal_driver_t** out_driver);

/// Makes a device, with its driver, from a URI.
IREE_API_EXPORT iree_status_t
iree_hal_create_device(iree_hal_driver_registry_t* registry, iree_string_view_t device_uri,
                       const iree_hal_device_create_params_t* create_params,
                       iree_allocator_t host_allocator, iree_hal_device_t** out_device);

#ifdef __cplusplus
}
#endif
#endif
