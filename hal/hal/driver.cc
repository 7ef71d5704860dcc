#include "iree/hal/driver.h"

#include "hal/hal/device_uri.h"
#include "hal/hal/object.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_driver_vtable_t;

namespace {

iree_status_t checkCreateParams(const iree_hal_device_create_params_t* params) {
  if (params)
    return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "devices are created with create params");
}

} // namespace

void iree_hal_driver_retain(iree_hal_driver_t* driver) { iree_hal_resource_retain(driver); }

void iree_hal_driver_release(iree_hal_driver_t* driver) { iree_hal_resource_release(driver); }

void iree_hal_driver_destroy(iree_hal_driver_t* driver) {
  if (driver)
    vtableOf<Vtable>(driver).destroy(driver);
}

iree_status_t iree_hal_driver_query_available_devices(iree_hal_driver_t* driver,
                                                      iree_allocator_t host_allocator,
                                                      iree_host_size_t* out_device_info_count,
                                                      iree_hal_device_info_t** out_device_infos) {
  *out_device_info_count = 0;
  *out_device_infos = nullptr;
  return vtableOf<Vtable>(driver).query_available_devices(driver, host_allocator,
                                                          out_device_info_count, out_device_infos);
}

iree_status_t iree_hal_driver_dump_device_info(iree_hal_driver_t* driver,
                                               iree_hal_device_id_t device_id,
                                               iree_string_builder_t* builder) {
  return vtableOf<Vtable>(driver).dump_device_info(driver, device_id, builder);
}

iree_status_t iree_hal_driver_create_device_by_ordinal(
    iree_hal_driver_t* driver, iree_host_size_t device_ordinal, iree_host_size_t param_count,
    const iree_string_pair_t* params, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = nullptr;
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_hal_driver_query_available_devices(driver, host_allocator, &count, &infos));
  iree_status_t status = iree_ok_status();
  iree_hal_device_id_t id = IREE_HAL_DEVICE_ID_DEFAULT;
  if (device_ordinal < count) {
    id = infos[device_ordinal].device_id;
  } else {
    status =
        iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                         "device ordinal %" PRIhsz " asked of a driver with %" PRIhsz " devices",
                         device_ordinal, count);
  }
  iree_allocator_free(host_allocator, infos);
  IREE_RETURN_IF_ERROR(status);
  return iree_hal_driver_create_device_by_id(driver, id, param_count, params, create_params,
                                             host_allocator, out_device);
}

iree_status_t iree_hal_driver_create_device_by_id(
    iree_hal_driver_t* driver, iree_hal_device_id_t device_id, iree_host_size_t param_count,
    const iree_string_pair_t* params, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = nullptr;
  IREE_RETURN_IF_ERROR(checkCreateParams(create_params));
  return vtableOf<Vtable>(driver).create_device_by_id(driver, device_id, param_count, params,
                                                      create_params, host_allocator, out_device);
}

iree_status_t iree_hal_driver_create_device_by_path(
    iree_hal_driver_t* driver, iree_string_view_t driver_name, iree_string_view_t device_path,
    iree_host_size_t param_count, const iree_string_pair_t* params,
    const iree_hal_device_create_params_t* create_params, iree_allocator_t host_allocator,
    iree_hal_device_t** out_device) {
  *out_device = nullptr;
  IREE_RETURN_IF_ERROR(checkCreateParams(create_params));
  return vtableOf<Vtable>(driver).create_device_by_path(driver, driver_name, device_path,
                                                        param_count, params, create_params,
                                                        host_allocator, out_device);
}

iree_status_t
iree_hal_driver_create_device_by_uri(iree_hal_driver_t* driver, iree_string_view_t device_uri,
                                     const iree_hal_device_create_params_t* create_params,
                                     iree_allocator_t host_allocator,
                                     iree_hal_device_t** out_device) {
  *out_device = nullptr;
  bessemer::hal::DeviceUri uri;
  IREE_RETURN_IF_ERROR(bessemer::hal::parseDeviceUri(device_uri, &uri));
  return iree_hal_driver_create_device_by_path(driver, uri.driver, uri.path, uri.paramCount,
                                               uri.params, create_params, host_allocator,
                                               out_device);
}

iree_status_t iree_hal_driver_create_default_device(
    iree_hal_driver_t* driver, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  return iree_hal_driver_create_device_by_id(driver, IREE_HAL_DEVICE_ID_DEFAULT, 0, nullptr,
                                             create_params, host_allocator, out_device);
}
