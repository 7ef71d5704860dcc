#include "modules/hal/types.h"

namespace bessemer::vm {

#define BESSEMER_HAL_REF(object, type_name, function)                                              \
  const RefType& RefTraits<object>::type() {                                                       \
    static constexpr RefType type = {                                                              \
        type_name, [](void* self) { function##_retain(static_cast<object*>(self)); },              \
        [](void* self) { function##_release(static_cast<object*>(self)); }};                       \
    return type;                                                                                   \
  }
BESSEMER_HAL_REF(iree_hal_allocator_t, "hal.allocator", iree_hal_allocator)
BESSEMER_HAL_REF(iree_hal_buffer_t, "hal.buffer", iree_hal_buffer)
BESSEMER_HAL_REF(iree_hal_buffer_view_t, "hal.buffer_view", iree_hal_buffer_view)
BESSEMER_HAL_REF(iree_hal_channel_t, "hal.channel", iree_hal_channel)
BESSEMER_HAL_REF(iree_hal_command_buffer_t, "hal.command_buffer", iree_hal_command_buffer)
BESSEMER_HAL_REF(iree_hal_device_t, "hal.device", iree_hal_device)
BESSEMER_HAL_REF(iree_hal_event_t, "hal.event", iree_hal_event)
BESSEMER_HAL_REF(iree_hal_executable_t, "hal.executable", iree_hal_executable)
BESSEMER_HAL_REF(iree_hal_executable_cache_t, "hal.executable_cache", iree_hal_executable_cache)
BESSEMER_HAL_REF(iree_hal_fence_t, "hal.fence", iree_hal_fence)
BESSEMER_HAL_REF(iree_hal_file_t, "hal.file", iree_hal_file)
BESSEMER_HAL_REF(iree_hal_semaphore_t, "hal.semaphore", iree_hal_semaphore)
#undef BESSEMER_HAL_REF

} // namespace bessemer::vm

namespace bessemer::modules {

vm::Result<void> registerHalTypes(vm::Instance& instance) {
  for (const vm::RefType* type :
       {&vm::RefTraits<iree_hal_allocator_t>::type(), &vm::RefTraits<iree_hal_buffer_t>::type(),
        &vm::RefTraits<iree_hal_buffer_view_t>::type(), &vm::RefTraits<iree_hal_channel_t>::type(),
        &vm::RefTraits<iree_hal_command_buffer_t>::type(),
        &vm::RefTraits<iree_hal_device_t>::type(), &vm::RefTraits<iree_hal_event_t>::type(),
        &vm::RefTraits<iree_hal_executable_t>::type(),
        &vm::RefTraits<iree_hal_executable_cache_t>::type(),
        &vm::RefTraits<iree_hal_fence_t>::type(), &vm::RefTraits<iree_hal_file_t>::type(),
        &vm::RefTraits<iree_hal_semaphore_t>::type()})
    BESSEMER_RETURN_IF_ERROR(instance.registerType(*type));
  return {};
}

} // namespace bessemer::modules
