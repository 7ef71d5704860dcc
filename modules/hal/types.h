// The HAL's objects as references of the VM.
#pragma once

#include "iree/hal/api.h"
#include "vm/instance.h"
#include "vm/ref.h"

namespace bessemer::vm {

#define BESSEMER_HAL_REF(object)                                                                   \
  template <>                                                                                      \
  struct RefTraits<object> {                                                                       \
    static const RefType& type();                                                                  \
  };
BESSEMER_HAL_REF(iree_hal_allocator_t)
BESSEMER_HAL_REF(iree_hal_buffer_t)
BESSEMER_HAL_REF(iree_hal_buffer_view_t)
BESSEMER_HAL_REF(iree_hal_channel_t)
BESSEMER_HAL_REF(iree_hal_command_buffer_t)
BESSEMER_HAL_REF(iree_hal_device_t)
BESSEMER_HAL_REF(iree_hal_event_t)
BESSEMER_HAL_REF(iree_hal_executable_t)
BESSEMER_HAL_REF(iree_hal_executable_cache_t)
BESSEMER_HAL_REF(iree_hal_fence_t)
BESSEMER_HAL_REF(iree_hal_file_t)
BESSEMER_HAL_REF(iree_hal_semaphore_t)
#undef BESSEMER_HAL_REF

} // namespace bessemer::vm

namespace bessemer::modules {

// Makes `instance` know hal.buffer and the other types; before any module that names them is
// loaded.
vm::Result<void> registerHalTypes(vm::Instance& instance);

} // namespace bessemer::modules
