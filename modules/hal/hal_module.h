// The native module `hal`, version 7: what compiled programs call to reach devices.
#pragma once

#include <memory>
#include <span>

#include "iree/hal/api.h"
#include "vm/native_module.h"

namespace bessemer::modules {

struct HalModuleOptions {
  iree_allocator_t host_allocator = {}; // zero: the system's
  // Receives hal.buffer_view.trace output; default: stderr.
  void (*trace)(void* user, std::string_view key,
                std::span<iree_hal_buffer_view_t* const> views) = nullptr;
  void* trace_user = nullptr;
};

// A module over `devices` (retained), in the order in which hal.devices.get shows them. The types
// must be registered (registerHalTypes). Empty: a module without devices, for programs that use
// none.
vm::Result<std::shared_ptr<const vm::NativeModule>>
createHalModule(std::span<iree_hal_device_t* const> devices, HalModuleOptions options = {});

} // namespace bessemer::modules
