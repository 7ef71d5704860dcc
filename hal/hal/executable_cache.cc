#include "iree/hal/executable_cache.h"

#include <cstring>

#include "hal/hal/object.h"
#include "iree/hal/device.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_executable_cache_vtable_t;

void iree_hal_executable_params_initialize(iree_hal_executable_params_t* out_executable_params) {
  std::memset(out_executable_params, 0, sizeof(*out_executable_params));
  out_executable_params->queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
  out_executable_params->caching_mode = IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_PERSISTENT_CACHING |
                                        IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_OPTIMIZATION;
}

iree_status_t iree_hal_executable_cache_create(iree_hal_device_t* device,
                                               iree_string_view_t identifier,
                                               iree_hal_executable_cache_t** out_executable_cache) {
  *out_executable_cache = nullptr;
  return vtableOf<iree_hal_device_vtable_t>(device).create_executable_cache(device, identifier,
                                                                            out_executable_cache);
}

void iree_hal_executable_cache_retain(iree_hal_executable_cache_t* executable_cache) {
  iree_hal_resource_retain(executable_cache);
}

void iree_hal_executable_cache_release(iree_hal_executable_cache_t* executable_cache) {
  iree_hal_resource_release(executable_cache);
}

void iree_hal_executable_cache_destroy(iree_hal_executable_cache_t* executable_cache) {
  if (executable_cache)
    vtableOf<Vtable>(executable_cache).destroy(executable_cache);
}

iree_status_t iree_hal_executable_cache_infer_format(
    iree_hal_executable_cache_t* executable_cache, iree_hal_executable_caching_mode_t caching_mode,
    iree_const_byte_span_t executable_data, iree_host_size_t executable_format_capacity,
    char* executable_format, iree_host_size_t* out_inferred_size) {
  *out_inferred_size = 0;
  return vtableOf<Vtable>(executable_cache)
      .infer_format(executable_cache, caching_mode, executable_data, executable_format_capacity,
                    executable_format, out_inferred_size);
}

bool iree_hal_executable_cache_can_prepare_format(iree_hal_executable_cache_t* executable_cache,
                                                  iree_hal_executable_caching_mode_t caching_mode,
                                                  iree_string_view_t executable_format) {
  return vtableOf<Vtable>(executable_cache)
      .can_prepare_format(executable_cache, caching_mode, executable_format);
}

iree_status_t
iree_hal_executable_cache_prepare_executable(iree_hal_executable_cache_t* executable_cache,
                                             const iree_hal_executable_params_t* executable_params,
                                             iree_hal_executable_t** out_executable) {
  *out_executable = nullptr;
  if (executable_params->constant_count > 0 && !executable_params->constants) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%" PRIhsz " specialization constants come with no values",
                            executable_params->constant_count);
  }
  return vtableOf<Vtable>(executable_cache)
      .prepare_executable(executable_cache, executable_params, out_executable);
}
