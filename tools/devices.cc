#include "tools/devices.h"

#include <mutex>

#include "drivers/metal/registration/driver_module.h"
#include "iree/async/util/proactor_pool.h"
#include "modules/hal/status.h"

namespace bessemer::tools {

using modules::fromStatus;
using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

iree_string_view_t viewOf(std::string_view text) {
  return iree_make_string_view(text.data(), text.size());
}

std::string textOf(iree_string_view_t view) { return std::string(view.data, view.size); }

Result<iree_hal_driver_registry_t*> registry() {
  static std::once_flag once;
  static iree_status_code_t code = IREE_STATUS_OK;
  iree_hal_driver_registry_t* registry = iree_hal_driver_registry_default();
  std::call_once(once, [&] {
    iree_status_t status = iree_hal_metal_driver_module_register(registry);
    code = iree_status_consume_code(status);
  });
  if (code != IREE_STATUS_OK)
    return fail(static_cast<StatusCode>(code), "the Metal driver could not be registered");
  return registry;
}

// A driver by name; the caller releases it.
Result<iree_hal_driver_t*> createDriver(const std::string& name) {
  BESSEMER_ASSIGN_OR_RETURN(iree_hal_driver_registry_t * drivers, registry());
  iree_hal_driver_t* driver = nullptr;
  if (auto made = fromStatus(iree_hal_driver_registry_try_create(drivers, viewOf(name),
                                                                 iree_allocator_system(), &driver));
      !made) {
    std::string known;
    if (auto list = listDrivers()) {
      for (const DriverInfo& info : *list)
        known += (known.empty() ? "" : ", ") + info.name;
    }
    return std::unexpected(
        std::move(made.error()).prefix(vm::concat("driver '", name, "' (there are: ", known, ")")));
  }
  return driver;
}

template <class Use>
Result<void> forEachDevice(const std::string& name, Use use) {
  BESSEMER_ASSIGN_OR_RETURN(iree_hal_driver_t * driver, createDriver(name));
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = nullptr;
  Result<void> result = fromStatus(
      iree_hal_driver_query_available_devices(driver, iree_allocator_system(), &count, &infos));
  for (iree_host_size_t i = 0; result && i < count; ++i)
    result = use(driver, infos[i]);
  iree_allocator_free(iree_allocator_system(), infos);
  iree_hal_driver_release(driver);
  return result;
}

} // namespace

Result<std::vector<DriverInfo>> listDrivers() {
  BESSEMER_ASSIGN_OR_RETURN(iree_hal_driver_registry_t * drivers, registry());
  iree_host_size_t count = 0;
  iree_hal_driver_info_t* infos = nullptr;
  BESSEMER_RETURN_IF_ERROR(fromStatus(
      iree_hal_driver_registry_enumerate(drivers, iree_allocator_system(), &count, &infos)));
  std::vector<DriverInfo> result;
  for (iree_host_size_t i = 0; i < count; ++i)
    result.push_back({textOf(infos[i].driver_name), textOf(infos[i].full_name)});
  iree_allocator_free(iree_allocator_system(), infos);
  return result;
}

Result<std::vector<DeviceInfo>> listDevices(const std::string& driver) {
  std::vector<DeviceInfo> devices;
  BESSEMER_RETURN_IF_ERROR(
      forEachDevice(driver, [&](iree_hal_driver_t*, const iree_hal_device_info_t& info) {
        devices.push_back({textOf(info.path), textOf(info.name)});
        return Result<void>();
      }));
  return devices;
}

Result<std::string> describeDevices(const std::string& driver) {
  std::string text;
  BESSEMER_RETURN_IF_ERROR(forEachDevice(driver, [&](iree_hal_driver_t* opened,
                                                     const iree_hal_device_info_t& info) {
    iree_string_builder_t builder;
    iree_string_builder_initialize(iree_allocator_system(), &builder);
    auto result = fromStatus(iree_hal_driver_dump_device_info(opened, info.device_id, &builder));
    text += textOf(iree_string_builder_view(&builder));
    iree_string_builder_deinitialize(&builder);
    return result;
  }));
  return text;
}

Result<DeviceSet> DeviceSet::open(std::span<const std::string> uris) {
  DeviceSet set;
  if (uris.empty())
    return set;
  BESSEMER_ASSIGN_OR_RETURN(iree_hal_driver_registry_t * drivers, registry());
  const iree_allocator_t allocator = iree_allocator_system();
  iree_async_proactor_pool_t* pool = nullptr;
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_async_proactor_pool_create(
      1, nullptr, iree_async_proactor_pool_options_default(), allocator, &pool)));
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  params.proactor_pool = pool;
  Result<void> result;
  for (const std::string& uri : uris) {
    // The registry's own message does not say which drivers there are.
    if (auto driver = createDriver(uri.substr(0, uri.find("://"))); driver) {
      iree_hal_driver_release(*driver);
    } else {
      result = std::unexpected(std::move(driver.error()));
      break;
    }
    iree_hal_device_t* device = nullptr;
    result = fromStatus(iree_hal_create_device(drivers, viewOf(uri), &params, allocator, &device));
    if (!result) {
      result = std::unexpected(std::move(result.error()).prefix("--device=" + uri));
      break;
    }
    set.devices_.push_back(device);
  }
  iree_async_proactor_pool_release(pool);
  BESSEMER_RETURN_IF_ERROR(std::move(result));

  return set;
}

DeviceSet::DeviceSet(DeviceSet&& other) noexcept : devices_(std::exchange(other.devices_, {})) {}

DeviceSet& DeviceSet::operator=(DeviceSet&& other) noexcept {
  std::swap(devices_, other.devices_);
  return *this;
}

DeviceSet::~DeviceSet() {
  for (iree_hal_device_t* device : devices_)
    iree_hal_device_release(device);
}

void printAllocatorStatistics(iree_hal_device_t* device) {
  if (!device)
    return;
  iree_status_ignore(
      iree_hal_allocator_statistics_fprint(stderr, iree_hal_device_allocator(device)));
}

} // namespace bessemer::tools
