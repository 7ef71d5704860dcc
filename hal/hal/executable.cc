#include "iree/hal/executable.h"

#include <cstring>

#include "hal/hal/object.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_executable_vtable_t;

void iree_hal_executable_retain(iree_hal_executable_t* executable) {
  iree_hal_resource_retain(executable);
}

void iree_hal_executable_release(iree_hal_executable_t* executable) {
  iree_hal_resource_release(executable);
}

void iree_hal_executable_destroy(iree_hal_executable_t* executable) {
  if (executable)
    vtableOf<Vtable>(executable).destroy(executable);
}

iree_host_size_t iree_hal_executable_function_count(iree_hal_executable_t* executable) {
  return vtableOf<Vtable>(executable).function_count(executable);
}

iree_status_t iree_hal_executable_function_info(iree_hal_executable_t* executable,
                                                iree_hal_executable_function_t function,
                                                iree_hal_executable_function_info_t* out_info) {
  std::memset(out_info, 0, sizeof(*out_info));
  return vtableOf<Vtable>(executable).function_info(executable, function, out_info);
}

iree_status_t iree_hal_executable_function_parameters(
    iree_hal_executable_t* executable, iree_hal_executable_function_t function,
    iree_host_size_t capacity, iree_hal_executable_function_parameter_t* out_parameters) {
  if (capacity > 0 && !out_parameters) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a capacity of %" PRIhsz " parameters comes with no storage", capacity);
  }
  return vtableOf<Vtable>(executable)
      .function_parameters(executable, function, capacity, out_parameters);
}

iree_status_t
iree_hal_executable_lookup_function_by_name(iree_hal_executable_t* executable,
                                            iree_string_view_t name,
                                            iree_hal_executable_function_t* out_function) {
  *out_function = iree_hal_executable_function_invalid();
  return vtableOf<Vtable>(executable).lookup_function_by_name(executable, name, out_function);
}

iree_status_t iree_hal_executable_lookup_global_by_name(iree_hal_executable_t* executable,
                                                        iree_string_view_t name,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  return vtableOf<Vtable>(executable)
      .lookup_global_by_name(executable, name, queue_affinity, out_buffer);
}
