// hal.executable.*: kernels.
#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

Result<iree_hal_executable_cache_t*> cacheOf(State& state, iree_hal_device_t* device) {
  for (size_t i = 0; i < state.devices.size(); ++i) {
    if (state.devices[i].get() != device)
      continue;
    RefPtr<iree_hal_executable_cache_t>& cache = state.caches[i];
    if (!cache)
      BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_executable_cache_create(
          device, iree_make_cstring_view("default"), cache.put())));
    return cache.get();
  }
  return vm::fail(StatusCode::NotFound, "the device is not one of the context's");
}

Result<RefPtr<iree_hal_executable_t>> create(State& state, Required<iree_hal_device_t> device,
                                             int64_t affinity, Required<vm::Buffer> format,
                                             Required<vm::Buffer> data, vm::Buffer* constants) {
  BESSEMER_ASSIGN_OR_RETURN(iree_hal_executable_cache_t * cache, cacheOf(state, device));
  if (constants && constants->length() % sizeof(uint32_t))
    return vm::fail(StatusCode::InvalidArgument, "constants of ", constants->length(),
                    " bytes are not whole 32-bit words");
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.queue_affinity = static_cast<iree_hal_queue_affinity_t>(affinity);
  // The data is not aliased: an executable in flight may outlive the module whose file it is in.
  params.caching_mode = IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_OPTIMIZATION |
                        IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_PERSISTENT_CACHING;
  params.executable_format = textOf(format);
  params.executable_data = bytesOf(data);
  if (constants) {
    params.constant_count = constants->length() / sizeof(uint32_t);
    params.constants = reinterpret_cast<const uint32_t*>(constants->data());
  }
  RefPtr<iree_hal_executable_t> executable;
  iree_status_t status =
      iree_hal_executable_cache_prepare_executable(cache, &params, executable.put());
  return made(status, std::move(executable));
}

Result<uint64_t> lookupFunction(State&, Required<iree_hal_executable_t> executable,
                                Required<vm::Buffer> name) {
  iree_hal_executable_function_t function = iree_hal_executable_function_invalid();
  BESSEMER_RETURN_IF_ERROR(
      fromStatus(iree_hal_executable_lookup_function_by_name(executable, textOf(name), &function)));
  return function.value;
}

} // namespace

std::span<const vm::NativeFunction> executableFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<create>("executable.create"),
      vm::bind<lookupFunction>("executable.lookup.function"),
  };
  return functions;
}

} // namespace bessemer::modules::hal
