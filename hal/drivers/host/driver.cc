#include <span>

#include "hal/drivers/host/device.h"
#include "hal/hal/object.h"
#include "iree/hal/drivers/host/registration/driver_module.h"

namespace bessemer::hal::host {
namespace {

constexpr iree_hal_device_id_t kDeviceId = 1;

struct HostDriver {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
};

HostDriver* cast(iree_hal_driver_t* driver) { return reinterpret_cast<HostDriver*>(driver); }

void destroy(iree_hal_driver_t* base) {
  iree_allocator_t hostAllocator = cast(base)->hostAllocator;
  iree_allocator_free(hostAllocator, base);
}

iree_status_t queryAvailableDevices(iree_hal_driver_t*, iree_allocator_t hostAllocator,
                                    iree_host_size_t* out_count,
                                    iree_hal_device_info_t** out_infos) {
  iree_hal_device_info_t info = {};
  info.device_id = kDeviceId;
  info.path = IREE_SV("0");
  info.name = IREE_SV("host memory");
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_clone(
      hostAllocator, iree_make_const_byte_span(&info, sizeof(info)), &storage));
  *out_count = 1;
  *out_infos = static_cast<iree_hal_device_info_t*>(storage);
  return iree_ok_status();
}

iree_status_t dumpDeviceInfo(iree_hal_driver_t*, iree_hal_device_id_t,
                             iree_string_builder_t* builder) {
  return iree_string_builder_append_cstring(
      builder, "Buffers, queues and semaphores in host memory; runs no executables.\n");
}

iree_status_t parseOptions(iree_host_size_t count, const iree_string_pair_t* params,
                           DeviceOptions* out_options) {
  for (const iree_string_pair_t& param : std::span(params, count)) {
    uint32_t value = 0;
    if (iree_string_view_equal(param.key, IREE_SV("queues"))) {
      if (!iree_string_view_atoi_uint32(param.value, &value) || value == 0 ||
          value > DeviceOptions::kMaxQueues) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                "parameter 'queues' is 1 to %u, not '%.*s'",
                                DeviceOptions::kMaxQueues, (int)param.value.size, param.value.data);
      }
      out_options->queueCount = value;
    } else if (iree_string_view_equal(param.key, IREE_SV("hazards"))) {
      if (!iree_string_view_equal(param.value, IREE_SV("find"))) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                "parameter 'hazards' is 'find', not '%.*s'", (int)param.value.size,
                                param.value.data);
      }
      out_options->findHazards = true;
    } else {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "the host device has no parameter '%.*s'; it has 'queues' and "
                              "'hazards'",
                              (int)param.key.size, param.key.data);
    }
  }
  return iree_ok_status();
}

iree_status_t createDeviceById(iree_hal_driver_t*, iree_hal_device_id_t deviceId,
                               iree_host_size_t paramCount, const iree_string_pair_t* params,
                               const iree_hal_device_create_params_t* createParams,
                               iree_allocator_t hostAllocator, iree_hal_device_t** out_device) {
  if (deviceId != IREE_HAL_DEVICE_ID_DEFAULT && deviceId != kDeviceId) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no host device with id %" PRIu64,
                            (uint64_t)deviceId);
  }
  DeviceOptions options;
  IREE_RETURN_IF_ERROR(parseOptions(paramCount, params, &options));
  return createDevice(IREE_SV("host"), options, createParams, hostAllocator, out_device);
}

iree_status_t createDeviceByPath(iree_hal_driver_t* driver, iree_string_view_t,
                                 iree_string_view_t path, iree_host_size_t paramCount,
                                 const iree_string_pair_t* params,
                                 const iree_hal_device_create_params_t* createParams,
                                 iree_allocator_t hostAllocator, iree_hal_device_t** out_device) {
  if (path.size != 0 && !iree_string_view_equal(path, IREE_SV("0"))) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no host device at '%.*s'",
                            (int)path.size, path.data);
  }
  return createDeviceById(driver, kDeviceId, paramCount, params, createParams, hostAllocator,
                          out_device);
}

const iree_hal_driver_vtable_t kVtable = {
    .destroy = destroy,
    .query_available_devices = queryAvailableDevices,
    .dump_device_info = dumpDeviceInfo,
    .create_device_by_id = createDeviceById,
    .create_device_by_path = createDeviceByPath,
};

iree_status_t enumerate(void*, iree_host_size_t* out_count,
                        const iree_hal_driver_info_t** out_infos) {
  static const iree_hal_driver_info_t kInfo = [] {
    iree_hal_driver_info_t info = {};
    info.driver_name = IREE_SV("host");
    info.full_name = IREE_SV("Reference driver in host memory");
    return info;
  }();
  *out_count = 1;
  *out_infos = &kInfo;
  return iree_ok_status();
}

iree_status_t tryCreate(void*, iree_string_view_t name, iree_allocator_t hostAllocator,
                        iree_hal_driver_t** out_driver) {
  if (!iree_string_view_equal(name, IREE_SV("host"))) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "the host module makes no driver '%.*s'",
                            (int)name.size, name.data);
  }
  HostDriver* driver = nullptr;
  IREE_RETURN_IF_ERROR(allocateObject(hostAllocator, 0, &driver));
  iree_hal_resource_initialize(&kVtable, &driver->resource);
  driver->hostAllocator = hostAllocator;
  *out_driver = reinterpret_cast<iree_hal_driver_t*>(driver);
  return iree_ok_status();
}

} // namespace
} // namespace bessemer::hal::host

iree_status_t iree_hal_host_driver_module_register(iree_hal_driver_registry_t* registry) {
  static const iree_hal_driver_factory_t kFactory = [] {
    iree_hal_driver_factory_t factory = {};
    factory.enumerate = bessemer::hal::host::enumerate;
    factory.try_create = bessemer::hal::host::tryCreate;
    return factory;
  }();
  return iree_hal_driver_registry_register_factory(registry, &kFactory);
}
