// A session over the HAL's host device, which runs everything but kernels.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "iree/hal/drivers/host/registration/driver_module.h"
#include "modules/devices.h"
#include "modules/hal/status.h"
#include "modules/session.h"
#include "vm/testing/assembler.h"

namespace bessemer::modules::testing {

inline void require(iree_status_t status) {
  if (auto result = fromStatus(status); !result) {
    std::fprintf(stderr, "%s\n", result.error().toString().c_str());
    std::abort();
  }
}

class HostDevice {
public:
  HostDevice() {
    static iree_status_t registered =
        iree_hal_host_driver_module_register(iree_hal_driver_registry_default());
    (void)registered;
    auto device = openDevice("host");
    if (!device) {
      std::fprintf(stderr, "%s\n", device.error().toString().c_str());
      std::abort();
    }
    device_ = device->leak();
  }
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;
  ~HostDevice() { iree_hal_device_release(device_); }
  operator iree_hal_device_t*() const { return device_; }

private:
  iree_hal_device_t* device_ = nullptr;
};

// A view in the device's memory.
inline vm::RefPtr<iree_hal_buffer_view_t> makeView(iree_hal_device_t* device,
                                                   std::vector<iree_hal_dim_t> shape,
                                                   iree_hal_element_type_t type, const void* data,
                                                   size_t bytes) {
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING;
  vm::RefPtr<iree_hal_buffer_view_t> view;
  require(iree_hal_buffer_view_allocate_buffer_copy(
      device, iree_hal_device_allocator(device), shape.size(), shape.data(), type,
      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, iree_make_const_byte_span(data, bytes),
      view.put()));
  return view;
}

template <class T>
std::vector<T> contents(iree_hal_buffer_t* buffer) {
  std::vector<T> values(iree_hal_buffer_byte_length(buffer) / sizeof(T));
  require(iree_hal_buffer_map_read(buffer, 0, values.data(), values.size() * sizeof(T)));
  return values;
}

} // namespace bessemer::modules::testing
