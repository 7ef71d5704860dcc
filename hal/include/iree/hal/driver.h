#ifndef IREE_HAL_DRIVER_H_
#define IREE_HAL_DRIVER_H_

#include "iree/base/api.h"
#include "iree/hal/device.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A driver that a factory could make. The text is the factory's.
typedef struct iree_hal_driver_info_t {
  IREE_API_UNSTABLE
  iree_string_view_t driver_name;
  iree_string_view_t full_name;
} iree_hal_driver_info_t;

typedef struct iree_hal_driver_t iree_hal_driver_t;

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_driver_retain(iree_hal_driver_t* driver);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_driver_release(iree_hal_driver_t* driver);

/// Lists devices in one block that the caller frees.
IREE_API_EXPORT iree_status_t iree_hal_driver_query_available_devices(
    iree_hal_driver_t* driver, iree_allocator_t host_allocator,
    iree_host_size_t* out_device_info_count, iree_hal_device_info_t** out_device_infos);

/// Appends lines about a device for a human reader.
IREE_API_EXPORT iree_status_t iree_hal_driver_dump_device_info(iree_hal_driver_t* driver,
                                                               iree_hal_device_id_t device_id,
                                                               iree_string_builder_t* builder);

/// Makes the device at a place in the list; OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_ordinal(
    iree_hal_driver_t* driver, iree_host_size_t device_ordinal, iree_host_size_t param_count,
    const iree_string_pair_t* params, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device);

/// Makes a device; id 0 is the default one.
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_id(
    iree_hal_driver_t* driver, iree_hal_device_id_t device_id, iree_host_size_t param_count,
    const iree_string_pair_t* params, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device);

/// Makes the device at a path of the driver's own kind; an empty one is the default.
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_path(
    iree_hal_driver_t* driver, iree_string_view_t driver_name, iree_string_view_t device_path,
    iree_host_size_t param_count, const iree_string_pair_t* params,
    const iree_hal_device_create_params_t* create_params, iree_allocator_t host_allocator,
    iree_hal_device_t** out_device);

/// Makes a device from `driver://path?key=value&key=value`, at most 128 parameters.
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_uri(
    iree_hal_driver_t* driver, iree_string_view_t device_uri,
    const iree_hal_device_create_params_t* create_params, iree_allocator_t host_allocator,
    iree_hal_device_t** out_device);

/// Makes the default device.
IREE_API_EXPORT iree_status_t iree_hal_driver_create_default_device(
    iree_hal_driver_t* driver, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device);

typedef struct iree_hal_driver_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_driver_t* driver);
  iree_status_t(IREE_API_PTR* query_available_devices)(iree_hal_driver_t* driver,
                                                       iree_allocator_t host_allocator,
                                                       iree_host_size_t* out_device_info_count,
                                                       iree_hal_device_info_t** out_device_infos);
  iree_status_t(IREE_API_PTR* dump_device_info)(iree_hal_driver_t* driver,
                                                iree_hal_device_id_t device_id,
                                                iree_string_builder_t* builder);
  iree_status_t(IREE_API_PTR* create_device_by_id)(
      iree_hal_driver_t* driver, iree_hal_device_id_t device_id, iree_host_size_t param_count,
      const iree_string_pair_t* params, const iree_hal_device_create_params_t* create_params,
      iree_allocator_t host_allocator, iree_hal_device_t** out_device);
  iree_status_t(IREE_API_PTR* create_device_by_path)(
      iree_hal_driver_t* driver, iree_string_view_t driver_name, iree_string_view_t device_path,
      iree_host_size_t param_count, const iree_string_pair_t* params,
      const iree_hal_device_create_params_t* create_params, iree_allocator_t host_allocator,
      iree_hal_device_t** out_device);
} iree_hal_driver_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_driver_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_driver_destroy(iree_hal_driver_t* driver);

#ifdef __cplusplus
}
#endif
#endif
