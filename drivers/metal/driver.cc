#include "drivers/metal/driver.h"

#include <cinttypes>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "drivers/metal/device.h"
#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {
namespace {

constexpr uint32_t kDefaultQueueCount = 4;

struct Driver {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  std::string identifier;
  /// The default device comes first.
  std::vector<MetalPtr<MTL::Device>> devices;

  static Driver* From(iree_hal_driver_t* base) { return reinterpret_cast<Driver*>(base); }
};

void Destroy(iree_hal_driver_t* base) {
  Driver* driver = Driver::From(base);
  iree_allocator_t host_allocator = driver->host_allocator;
  driver->~Driver();
  iree_allocator_free(host_allocator, driver);
}

iree_hal_device_id_t IdOf(MTL::Device* device) {
  return static_cast<iree_hal_device_id_t>(device->registryID());
}

/// Paths are registry ids, which last while the device is plugged in.
std::string PathOf(MTL::Device* device) {
  char path[17];
  std::snprintf(path, sizeof(path), "%016" PRIx64, static_cast<uint64_t>(device->registryID()));
  return path;
}

iree_status_t FindById(Driver* driver, iree_hal_device_id_t id, MTL::Device** out_device) {
  *out_device = nullptr;
  for (auto& device : driver->devices) {
    if (id == IREE_HAL_DEVICE_ID_DEFAULT || id == IdOf(device.get())) {
      *out_device = device.get();
      return iree_ok_status();
    }
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no Metal device with id %" PRIxPTR, id);
}

iree_status_t QueryAvailableDevices(iree_hal_driver_t* base, iree_allocator_t host_allocator,
                                    iree_host_size_t* out_device_info_count,
                                    iree_hal_device_info_t** out_device_infos) {
  Driver* driver = Driver::From(base);
  AutoreleaseScope pool;
  struct Strings {
    std::string path, name;
  };
  std::vector<Strings> strings;
  iree_host_size_t string_bytes = 0;
  for (auto& device : driver->devices) {
    strings.push_back({PathOf(device.get()), device->name()->utf8String()});
    string_bytes += strings.back().path.size() + strings.back().name.size();
  }
  void* storage = nullptr;
  iree_host_size_t infos_bytes = strings.size() * sizeof(iree_hal_device_info_t);
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_with_trailing(host_allocator, infos_bytes, string_bytes, &storage));
  auto* infos = static_cast<iree_hal_device_info_t*>(storage);
  char* text = static_cast<char*>(storage) + infos_bytes;
  for (size_t i = 0; i < strings.size(); ++i) {
    infos[i].device_id = IdOf(driver->devices[i].get());
    text += iree_string_view_append_to_buffer(ToIree(strings[i].path), &infos[i].path, text);
    text += iree_string_view_append_to_buffer(ToIree(strings[i].name), &infos[i].name, text);
  }
  *out_device_info_count = strings.size();
  *out_device_infos = infos;
  return iree_ok_status();
}

iree_status_t DumpDeviceInfo(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                             iree_string_builder_t* builder) {
  AutoreleaseScope pool;
  MTL::Device* device = nullptr;
  IREE_RETURN_IF_ERROR(FindById(Driver::From(base), device_id, &device));
  MTL::Size threads = device->maxThreadsPerThreadgroup();
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      builder,
      "- name: %s\n"
      "- registry id: %s\n"
      "- unified memory: %s\n"
      "- recommended working set: %" PRIu64 " bytes\n"
      "- largest buffer: %" PRIu64 " bytes\n"
      "- threadgroup memory: %" PRIu64 " bytes\n"
      "- threads per threadgroup: up to (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")\n",
      device->name()->utf8String(), PathOf(device).c_str(),
      device->hasUnifiedMemory() ? "yes" : "no",
      static_cast<uint64_t>(device->recommendedMaxWorkingSetSize()),
      static_cast<uint64_t>(device->maxBufferLength()),
      static_cast<uint64_t>(device->maxThreadgroupMemoryLength()),
      static_cast<uint64_t>(threads.width), static_cast<uint64_t>(threads.height),
      static_cast<uint64_t>(threads.depth)));
  static constexpr struct {
    MTL::GPUFamily family;
    const char* name;
  } kFamilies[] = {
      {MTL::GPUFamilyMetal3, "Metal3"}, {MTL::GPUFamilyApple7, "Apple7"},
      {MTL::GPUFamilyApple8, "Apple8"}, {MTL::GPUFamilyApple9, "Apple9"},
      {MTL::GPUFamilyMac2, "Mac2"},
  };
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "- families:"));
  for (const auto& each : kFamilies) {
    if (device->supportsFamily(each.family)) {
      IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, " %s", each.name));
    }
  }
  return iree_string_builder_append_cstring(builder, "\n");
}

/// Device parameters: `queue_count`.
iree_status_t ReadParams(iree_host_size_t param_count, const iree_string_pair_t* params,
                         uint32_t* out_queue_count) {
  *out_queue_count = kDefaultQueueCount;
  for (iree_host_size_t i = 0; i < param_count; ++i) {
    if (!iree_string_view_equal(params[i].key, IREE_SV("queue_count"))) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "Metal devices have no parameter '%.*s'; there is 'queue_count'",
                              static_cast<int>(params[i].key.size), params[i].key.data);
    }
    if (!iree_string_view_atoi_uint32(params[i].value, out_queue_count) || *out_queue_count == 0 ||
        *out_queue_count > Device::kMaxQueueCount) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "queue_count is from 1 to %u, not '%.*s'", Device::kMaxQueueCount,
                              static_cast<int>(params[i].value.size), params[i].value.data);
    }
  }
  return iree_ok_status();
}

iree_status_t CreateDeviceById(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                               iree_host_size_t param_count, const iree_string_pair_t* params,
                               const iree_hal_device_create_params_t* create_params,
                               iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  Driver* driver = Driver::From(base);
  AutoreleaseScope pool;
  *out_device = nullptr;
  uint32_t queue_count = 0;
  IREE_RETURN_IF_ERROR(ReadParams(param_count, params, &queue_count));
  MTL::Device* device = nullptr;
  IREE_RETURN_IF_ERROR(FindById(driver, device_id, &device));
  return CreateDevice(ToIree(driver->identifier), RetainMetal(device), queue_count, create_params,
                      host_allocator, out_device);
}

iree_status_t CreateDeviceByPath(iree_hal_driver_t* base, iree_string_view_t,
                                 iree_string_view_t device_path, iree_host_size_t param_count,
                                 const iree_string_pair_t* params,
                                 const iree_hal_device_create_params_t* create_params,
                                 iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  Driver* driver = Driver::From(base);
  *out_device = nullptr;
  iree_hal_device_id_t id = IREE_HAL_DEVICE_ID_DEFAULT;
  if (!iree_string_view_is_empty(device_path)) {
    // Registry ids are written with all their 16 digits; what is shorter is an index.
    uint64_t number = 0;
    bool is_registry_id = device_path.size == 16;
    if (!iree_string_view_atoi_uint64_base(device_path, is_registry_id ? 16 : 10, &number) ||
        (!is_registry_id && number >= driver->devices.size())) {
      return iree_make_status(IREE_STATUS_NOT_FOUND,
                              "there is no Metal device '%.*s': give an index below %zu or a "
                              "registry id of 16 hexadecimal digits",
                              static_cast<int>(device_path.size), device_path.data,
                              driver->devices.size());
    }
    id = is_registry_id ? static_cast<iree_hal_device_id_t>(number)
                        : IdOf(driver->devices[number].get());
  }
  return CreateDeviceById(base, id, param_count, params, create_params, host_allocator, out_device);
}

constexpr iree_hal_driver_vtable_t kVtable = {
    Destroy, QueryAvailableDevices, DumpDeviceInfo, CreateDeviceById, CreateDeviceByPath,
};

std::vector<MetalPtr<MTL::Device>> FindDevices() {
  std::vector<MetalPtr<MTL::Device>> devices;
  auto default_device = TakeMetal(MTL::CreateSystemDefaultDevice());
  if (default_device)
    devices.push_back(default_device);
  auto all = TakeMetal(MTL::CopyAllDevices());
  for (NS::UInteger i = 0; all && i < all->count(); ++i) {
    auto* device = all->object<MTL::Device>(i);
    if (!default_device || device->registryID() != default_device->registryID())
      devices.push_back(RetainMetal(device));
  }
  return devices;
}

} // namespace

iree_status_t CreateDriver(iree_string_view_t identifier, iree_allocator_t host_allocator,
                           iree_hal_driver_t** out_driver) {
  static_assert(offsetof(Driver, resource) == 0);
  *out_driver = nullptr;
  AutoreleaseScope pool;
  std::vector<MetalPtr<MTL::Device>> devices = FindDevices();
  if (devices.empty())
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "the system has no Metal device");
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(Driver), &storage));
  auto* driver = new (storage) Driver{};
  iree_hal_resource_initialize(&kVtable, &driver->resource);
  driver->host_allocator = host_allocator;
  driver->identifier = std::string(ToStd(identifier));
  driver->devices = std::move(devices);
  *out_driver = reinterpret_cast<iree_hal_driver_t*>(driver);
  return iree_ok_status();
}

} // namespace bessemer::metal_driver
