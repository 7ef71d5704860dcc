// hal.allocator.*: memory of devices.
#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

iree_hal_buffer_params_t paramsOf(uint32_t memory_types, uint32_t usage, int64_t affinity) {
  iree_hal_buffer_params_t params = {};
  params.type = memory_types;
  params.usage = usage;
  params.queue_affinity = static_cast<iree_hal_queue_affinity_t>(affinity);
  return params;
}

Result<RefPtr<iree_hal_buffer_t>> allocate(State&, Required<iree_hal_allocator_t> allocator,
                                           int64_t affinity, uint32_t memory_types, uint32_t usage,
                                           int64_t size) {
  if (size < 0)
    return vm::fail(StatusCode::InvalidArgument, "a buffer of ", size, " bytes");
  RefPtr<iree_hal_buffer_t> buffer;
  iree_status_t status =
      iree_hal_allocator_allocate_buffer(allocator, paramsOf(memory_types, usage, affinity),
                                         static_cast<iree_device_size_t>(size), buffer.put());
  return made(status, std::move(buffer));
}

// Makes host memory of the program a buffer without copying. With `attempt`, null says that the
// device cannot take it, and the program copies.
Result<RefPtr<iree_hal_buffer_t>> import(State&, Required<iree_hal_allocator_t> allocator,
                                         int32_t attempt, int64_t affinity, uint32_t memory_types,
                                         uint32_t usage, Required<vm::Buffer> source,
                                         int64_t offset, int64_t length) {
  uint64_t size = length == -1 ? source->length() - std::min<uint64_t>(source->length(), offset)
                               : static_cast<uint64_t>(length);
  BESSEMER_ASSIGN_OR_RETURN(std::span<const std::byte> memory,
                            source->range(static_cast<uint64_t>(offset), size));
  iree_hal_buffer_params_t params = paramsOf(memory_types, usage, affinity);
  params.access = source->writable() ? IREE_HAL_MEMORY_ACCESS_ALL : IREE_HAL_MEMORY_ACCESS_READ;
  iree_hal_external_buffer_t external = {};
  external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
  external.size = memory.size();
  external.handle.host_allocation.ptr = const_cast<std::byte*>(memory.data());
  // The buffer keeps the memory until it goes.
  iree_hal_buffer_release_callback_t release = {
      [](void* user, iree_hal_buffer_t*) { static_cast<vm::Buffer*>(user)->release(); },
      source.get()};
  source->retain();
  RefPtr<iree_hal_buffer_t> buffer;
  iree_status_t status =
      iree_hal_allocator_import_buffer(allocator, params, &external, release, buffer.put());
  if (iree_status_is_ok(status))
    return buffer;
  source->release();
  if (attempt) {
    iree_status_ignore(status);
    return RefPtr<iree_hal_buffer_t>();
  }
  return made(status, std::move(buffer));
}

// The first of (device, affinity) whose memory can be of these types and used like this.
Result<std::tuple<RefPtr<iree_hal_device_t>, int64_t>>
selectDevice(State&, uint32_t memory_types, uint32_t usage, int64_t,
             Span<Required<iree_hal_device_t>, int64_t> candidates) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    auto [device, affinity] = candidates[i];
    constexpr iree_hal_buffer_compatibility_t kNeeded = IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE;
    iree_hal_buffer_compatibility_t found = iree_hal_allocator_query_buffer_compatibility(
        iree_hal_device_allocator(device), paramsOf(memory_types, usage, affinity), 0, nullptr,
        nullptr);
    if ((found & kNeeded) == kNeeded)
      return std::tuple(RefPtr<iree_hal_device_t>::share(device), int64_t{affinity});
  }
  return vm::fail(StatusCode::NotFound, "none of ", candidates.size(),
                  " devices can allocate memory of types ", memory_types, " for usage ", usage);
}

} // namespace

std::span<const vm::NativeFunction> allocatorFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<allocate>("allocator.allocate"),
      vm::bind<import>("allocator.import"),
      vm::bind<selectDevice>("allocator.select"),
  };
  return functions;
}

} // namespace bessemer::modules::hal
