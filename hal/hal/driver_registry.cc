#include "iree/hal/driver_registry.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <span>

#include "hal/hal/device_uri.h"

struct iree_hal_driver_registry_t {
  static constexpr iree_host_size_t kCapacity = 16;

  explicit iree_hal_driver_registry_t(iree_allocator_t allocator) : hostAllocator(allocator) {}

  iree_allocator_t hostAllocator;
  std::mutex mutex;
  iree_host_size_t count = 0;
  /// Borrowed; oldest first.
  const iree_hal_driver_factory_t* factories[kCapacity] = {};

  std::span<const iree_hal_driver_factory_t*> registered() { return {factories, count}; }
};

iree_hal_driver_registry_t* iree_hal_driver_registry_default(void) {
  static iree_hal_driver_registry_t registry(iree_allocator_system());
  return &registry;
}

iree_status_t iree_hal_driver_registry_allocate(iree_allocator_t host_allocator,
                                                iree_hal_driver_registry_t** out_registry) {
  *out_registry = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(iree_hal_driver_registry_t), &storage));
  *out_registry = new (storage) iree_hal_driver_registry_t(host_allocator);
  return iree_ok_status();
}

void iree_hal_driver_registry_free(iree_hal_driver_registry_t* registry) {
  if (!registry || registry == iree_hal_driver_registry_default())
    return;
  iree_allocator_t hostAllocator = registry->hostAllocator;
  registry->~iree_hal_driver_registry_t();
  iree_allocator_free(hostAllocator, registry);
}

iree_status_t iree_hal_driver_registry_register_factory(iree_hal_driver_registry_t* registry,
                                                        const iree_hal_driver_factory_t* factory) {
  std::lock_guard lock(registry->mutex);
  if (std::ranges::find(registry->registered(), factory) != registry->registered().end()) {
    return iree_make_status(IREE_STATUS_ALREADY_EXISTS, "driver factory is registered already");
  }
  if (registry->count == iree_hal_driver_registry_t::kCapacity) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "the driver registry holds at most %d factories",
                            (int)iree_hal_driver_registry_t::kCapacity);
  }
  registry->factories[registry->count++] = factory;
  return iree_ok_status();
}

iree_status_t
iree_hal_driver_registry_unregister_factory(iree_hal_driver_registry_t* registry,
                                            const iree_hal_driver_factory_t* factory) {
  std::lock_guard lock(registry->mutex);
  auto registered = registry->registered();
  auto it = std::ranges::find(registered, factory);
  if (it == registered.end()) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "driver factory is not registered");
  }
  std::copy(it + 1, registered.end(), it);
  --registry->count;
  return iree_ok_status();
}

iree_status_t iree_hal_driver_registry_enumerate(iree_hal_driver_registry_t* registry,
                                                 iree_allocator_t host_allocator,
                                                 iree_host_size_t* out_driver_info_count,
                                                 iree_hal_driver_info_t** out_driver_infos) {
  *out_driver_info_count = 0;
  *out_driver_infos = nullptr;
  std::lock_guard lock(registry->mutex);

  // The infos are followed by the text they name, so that the caller frees one block.
  iree_host_size_t infoCount = 0, textSize = 0;
  auto forEachInfo = [&](auto visit) -> iree_status_t {
    for (const iree_hal_driver_factory_t* factory : registry->registered()) {
      iree_host_size_t count = 0;
      const iree_hal_driver_info_t* infos = nullptr;
      IREE_RETURN_IF_ERROR(factory->enumerate(factory->self, &count, &infos));
      for (const auto& info : std::span(infos, count))
        visit(info);
    }
    return iree_ok_status();
  };
  IREE_RETURN_IF_ERROR(forEachInfo([&](const iree_hal_driver_info_t& info) {
    ++infoCount;
    textSize += info.driver_name.size + info.full_name.size;
  }));
  if (infoCount == 0)
    return iree_ok_status();

  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(
      host_allocator, infoCount * sizeof(iree_hal_driver_info_t) + textSize, &storage));
  auto* infos = static_cast<iree_hal_driver_info_t*>(storage);
  char* text = reinterpret_cast<char*>(infos + infoCount);
  auto copyText = [&](iree_string_view_t source) {
    if (source.size)
      std::memcpy(text, source.data, source.size);
    text += source.size;
    return iree_make_string_view(text - source.size, source.size);
  };
  iree_hal_driver_info_t* next = infos;
  iree_status_t status = forEachInfo([&](const iree_hal_driver_info_t& info) {
    *next = info;
    next->driver_name = copyText(info.driver_name);
    next->full_name = copyText(info.full_name);
    ++next;
  });
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, storage);
    return status;
  }
  *out_driver_info_count = infoCount;
  *out_driver_infos = infos;
  return iree_ok_status();
}

iree_status_t iree_hal_driver_registry_try_create(iree_hal_driver_registry_t* registry,
                                                  iree_string_view_t driver_name,
                                                  iree_allocator_t host_allocator,
                                                  iree_hal_driver_t** out_driver) {
  *out_driver = nullptr;
  if (driver_name.size == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no driver name given");
  }
  std::lock_guard lock(registry->mutex);
  // The newest registration of a name wins, so that a driver can stand in for a built-in one.
  auto registered = registry->registered();
  for (auto it = registered.rbegin(); it != registered.rend(); ++it) {
    const iree_hal_driver_factory_t* factory = *it;
    iree_host_size_t count = 0;
    const iree_hal_driver_info_t* infos = nullptr;
    IREE_RETURN_IF_ERROR(factory->enumerate(factory->self, &count, &infos));
    for (iree_host_size_t i = count; i-- > 0;) {
      if (iree_string_view_equal(infos[i].driver_name, driver_name)) {
        return factory->try_create(factory->self, driver_name, host_allocator, out_driver);
      }
    }
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no driver named '%.*s' is registered",
                          (int)driver_name.size, driver_name.data);
}

iree_status_t iree_hal_create_device(iree_hal_driver_registry_t* registry,
                                     iree_string_view_t device_uri,
                                     const iree_hal_device_create_params_t* create_params,
                                     iree_allocator_t host_allocator,
                                     iree_hal_device_t** out_device) {
  *out_device = nullptr;
  bessemer::hal::DeviceUri uri;
  IREE_RETURN_IF_ERROR(bessemer::hal::parseDeviceUri(device_uri, &uri));
  iree_hal_driver_t* driver = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_hal_driver_registry_try_create(registry, uri.driver, host_allocator, &driver));
  iree_status_t status =
      iree_hal_driver_create_device_by_path(driver, uri.driver, uri.path, uri.paramCount,
                                            uri.params, create_params, host_allocator, out_device);
  iree_hal_driver_release(driver);
  return status;
}
