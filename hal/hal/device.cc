#include "iree/hal/device.h"

#include <cstring>

#include "hal/hal/object.h"
#include "hal/hal/profiling_request.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_device_vtable_t;

namespace {

const Vtable& vtableOfDevice(iree_hal_device_t* device) { return vtableOf<Vtable>(device); }

/// Checks that [offset, offset + length) of `buffer` may be used by a transfer.
iree_status_t checkTransfer(iree_hal_buffer_t* buffer, iree_hal_buffer_usage_t usage,
                            iree_hal_memory_access_t access, iree_device_size_t offset,
                            iree_device_size_t length) {
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_usage(iree_hal_buffer_allowed_usage(buffer), usage));
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_access(iree_hal_buffer_allowed_access(buffer), access));
  return iree_hal_buffer_validate_range(buffer, offset, length);
}

} // namespace

void iree_hal_device_retain(iree_hal_device_t* device) { iree_hal_resource_retain(device); }

void iree_hal_device_release(iree_hal_device_t* device) { iree_hal_resource_release(device); }

void iree_hal_device_destroy(iree_hal_device_t* device) {
  if (device)
    vtableOfDevice(device).destroy(device);
}

iree_string_view_t iree_hal_device_id(iree_hal_device_t* device) {
  return vtableOfDevice(device).id(device);
}

iree_allocator_t iree_hal_device_host_allocator(iree_hal_device_t* device) {
  return vtableOfDevice(device).host_allocator(device);
}

iree_hal_allocator_t* iree_hal_device_allocator(iree_hal_device_t* device) {
  return vtableOfDevice(device).device_allocator(device);
}

void iree_hal_device_replace_allocator(iree_hal_device_t* device,
                                       iree_hal_allocator_t* new_allocator) {
  vtableOfDevice(device).replace_device_allocator(device, new_allocator);
}

void iree_hal_device_replace_channel_provider(iree_hal_device_t* device,
                                              iree_hal_channel_provider_t* new_provider) {
  vtableOfDevice(device).replace_channel_provider(device, new_provider);
}

iree_status_t iree_hal_device_trim(iree_hal_device_t* device) {
  return vtableOfDevice(device).trim(device);
}

iree_status_t iree_hal_device_query_i64(iree_hal_device_t* device, iree_string_view_t category,
                                        iree_string_view_t key, int64_t* out_value) {
  *out_value = 0;
  return vtableOfDevice(device).query_i64(device, category, key, out_value);
}

iree_status_t iree_hal_device_query_capabilities(iree_hal_device_t* device,
                                                 iree_hal_device_capabilities_t* out_capabilities) {
  std::memset(out_capabilities, 0, sizeof(*out_capabilities));
  return vtableOfDevice(device).query_capabilities(device, out_capabilities);
}

const iree_hal_device_topology_info_t* iree_hal_device_topology_info(iree_hal_device_t* device) {
  return vtableOfDevice(device).topology_info(device);
}

iree_status_t iree_hal_device_refine_topology_edge(iree_hal_device_t* src_device,
                                                   iree_hal_device_t* dst_device,
                                                   iree_hal_topology_edge_t* edge) {
  return vtableOfDevice(src_device).refine_topology_edge(src_device, dst_device, edge);
}

iree_status_t
iree_hal_device_assign_topology_info(iree_hal_device_t* device,
                                     const iree_hal_device_topology_info_t* topology_info) {
  return vtableOfDevice(device).assign_topology_info(device, topology_info);
}

iree_hal_semaphore_compatibility_t
iree_hal_device_query_semaphore_compatibility(iree_hal_device_t* device,
                                              iree_hal_semaphore_t* semaphore) {
  return vtableOfDevice(device).query_semaphore_compatibility(device, semaphore);
}

iree_status_t iree_hal_device_query_queue_pool_backend(iree_hal_device_t* device,
                                                       iree_hal_queue_affinity_t queue_affinity,
                                                       iree_hal_queue_pool_backend_t* out_backend) {
  std::memset(out_backend, 0, sizeof(*out_backend));
  const iree_hal_device_topology_info_t* info = iree_hal_device_topology_info(device);
  if (!info || !info->topology || !info->frontier.tracker) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "a device has no pool backend before it is in a device group");
  }
  return vtableOfDevice(device).query_queue_pool_backend(device, queue_affinity, out_backend);
}

//===--- queue operations ---------------------------------------------------------------------===//

iree_status_t iree_hal_device_queue_alloca(iree_hal_device_t* device,
                                           iree_hal_queue_affinity_t queue_affinity,
                                           const iree_hal_semaphore_list_t wait_semaphore_list,
                                           const iree_hal_semaphore_list_t signal_semaphore_list,
                                           iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                           iree_device_size_t allocation_size,
                                           iree_hal_alloca_flags_t flags,
                                           iree_hal_buffer_t** IREE_RESTRICT out_buffer) {
  *out_buffer = nullptr;
  return vtableOfDevice(device).queue_alloca(device, queue_affinity, wait_semaphore_list,
                                             signal_semaphore_list, pool, params, allocation_size,
                                             flags, out_buffer);
}

iree_status_t iree_hal_device_queue_dealloca(iree_hal_device_t* device,
                                             iree_hal_queue_affinity_t queue_affinity,
                                             const iree_hal_semaphore_list_t wait_semaphore_list,
                                             const iree_hal_semaphore_list_t signal_semaphore_list,
                                             iree_hal_buffer_t* buffer,
                                             iree_hal_dealloca_flags_t flags) {
  const iree_hal_buffer_placement_t placement = iree_hal_buffer_allocation_placement(buffer);
  if (iree_any_bit_set(flags, IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN) && placement.device) {
    device = placement.device;
    queue_affinity = placement.queue_affinity;
    flags &= ~IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN;
  }
  // Only storage that a queue allocated, with a lifetime that queues know, is freed by a queue; for
  // all other buffers the call keeps the timeline going.
  if (!iree_any_bit_set(placement.flags, IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS) ||
      iree_any_bit_set(placement.flags, IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME)) {
    return iree_hal_device_queue_barrier(device, queue_affinity, wait_semaphore_list,
                                         signal_semaphore_list, IREE_HAL_EXECUTE_FLAG_NONE);
  }
  return vtableOfDevice(device).queue_dealloca(device, queue_affinity, wait_semaphore_list,
                                               signal_semaphore_list, buffer, flags);
}

iree_status_t
iree_hal_device_queue_fill(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                           const iree_hal_semaphore_list_t wait_semaphore_list,
                           const iree_hal_semaphore_list_t signal_semaphore_list,
                           iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                           iree_device_size_t length, const void* pattern,
                           iree_host_size_t pattern_length, iree_hal_fill_flags_t flags) {
  return vtableOfDevice(device).queue_fill(device, queue_affinity, wait_semaphore_list,
                                           signal_semaphore_list, target_buffer, target_offset,
                                           length, pattern, pattern_length, flags);
}

iree_status_t
iree_hal_device_queue_update(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                             const iree_hal_semaphore_list_t wait_semaphore_list,
                             const iree_hal_semaphore_list_t signal_semaphore_list,
                             const void* source_buffer, iree_host_size_t source_offset,
                             iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                             iree_device_size_t length, iree_hal_update_flags_t flags) {
  return vtableOfDevice(device).queue_update(device, queue_affinity, wait_semaphore_list,
                                             signal_semaphore_list, source_buffer, source_offset,
                                             target_buffer, target_offset, length, flags);
}

iree_status_t
iree_hal_device_queue_copy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                           const iree_hal_semaphore_list_t wait_semaphore_list,
                           const iree_hal_semaphore_list_t signal_semaphore_list,
                           iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                           iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                           iree_device_size_t length, iree_hal_copy_flags_t flags) {
  return vtableOfDevice(device).queue_copy(device, queue_affinity, wait_semaphore_list,
                                           signal_semaphore_list, source_buffer, source_offset,
                                           target_buffer, target_offset, length, flags);
}

iree_status_t iree_hal_device_queue_read(iree_hal_device_t* device,
                                         iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list,
                                         iree_hal_file_t* source_file, uint64_t source_offset,
                                         iree_hal_buffer_t* target_buffer,
                                         iree_device_size_t target_offset,
                                         iree_device_size_t length, iree_hal_read_flags_t flags) {
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(source_file, IREE_HAL_MEMORY_ACCESS_READ));
  IREE_RETURN_IF_ERROR(checkTransfer(target_buffer, IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET,
                                     IREE_HAL_MEMORY_ACCESS_WRITE, target_offset, length));
  return vtableOfDevice(device).queue_read(device, queue_affinity, wait_semaphore_list,
                                           signal_semaphore_list, source_file, source_offset,
                                           target_buffer, target_offset, length, flags);
}

iree_status_t iree_hal_device_queue_write(iree_hal_device_t* device,
                                          iree_hal_queue_affinity_t queue_affinity,
                                          const iree_hal_semaphore_list_t wait_semaphore_list,
                                          const iree_hal_semaphore_list_t signal_semaphore_list,
                                          iree_hal_buffer_t* source_buffer,
                                          iree_device_size_t source_offset,
                                          iree_hal_file_t* target_file, uint64_t target_offset,
                                          iree_device_size_t length, iree_hal_write_flags_t flags) {
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(target_file, IREE_HAL_MEMORY_ACCESS_WRITE));
  IREE_RETURN_IF_ERROR(checkTransfer(source_buffer, IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE,
                                     IREE_HAL_MEMORY_ACCESS_READ, source_offset, length));
  return vtableOfDevice(device).queue_write(device, queue_affinity, wait_semaphore_list,
                                            signal_semaphore_list, source_buffer, source_offset,
                                            target_file, target_offset, length, flags);
}

iree_status_t iree_hal_device_queue_host_call(iree_hal_device_t* device,
                                              iree_hal_queue_affinity_t queue_affinity,
                                              const iree_hal_semaphore_list_t wait_semaphore_list,
                                              const iree_hal_semaphore_list_t signal_semaphore_list,
                                              iree_hal_host_call_t call, const uint64_t args[4],
                                              iree_hal_host_call_flags_t flags) {
  if (!call.fn) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a host call needs a function");
  }
  return vtableOfDevice(device).queue_host_call(device, queue_affinity, wait_semaphore_list,
                                                signal_semaphore_list, call, args, flags);
}

iree_status_t iree_hal_device_queue_dispatch(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_executable_t* executable,
    iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config,
    iree_const_byte_span_t constants, const iree_hal_buffer_ref_list_t bindings,
    iree_hal_dispatch_flags_t flags) {
  return vtableOfDevice(device).queue_dispatch(device, queue_affinity, wait_semaphore_list,
                                               signal_semaphore_list, executable, function, config,
                                               constants, bindings, flags);
}

iree_status_t iree_hal_device_queue_execute(iree_hal_device_t* device,
                                            iree_hal_queue_affinity_t queue_affinity,
                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                            iree_hal_command_buffer_t* command_buffer,
                                            iree_hal_buffer_binding_table_t binding_table,
                                            iree_hal_execute_flags_t flags) {
  if (command_buffer) {
    // Inline execution may have happened while recording, before any wait could hold it back.
    if (iree_any_bit_set(iree_hal_command_buffer_mode(command_buffer),
                         IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION) &&
        wait_semaphore_list.count > 0) {
      return iree_make_status(
          IREE_STATUS_INVALID_ARGUMENT,
          "a command buffer that allows inline execution cannot be submitted behind waits");
    }
    IREE_RETURN_IF_ERROR(
        iree_hal_command_buffer_validate_submission(command_buffer, binding_table));
  }
  return vtableOfDevice(device).queue_execute(device, queue_affinity, wait_semaphore_list,
                                              signal_semaphore_list, command_buffer, binding_table,
                                              flags);
}

iree_status_t iree_hal_device_queue_barrier(iree_hal_device_t* device,
                                            iree_hal_queue_affinity_t queue_affinity,
                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                            iree_hal_execute_flags_t flags) {
  return iree_hal_device_queue_execute(device, queue_affinity, wait_semaphore_list,
                                       signal_semaphore_list, nullptr,
                                       iree_hal_buffer_binding_table_empty(), flags);
}

iree_status_t iree_hal_device_queue_flush(iree_hal_device_t* device,
                                          iree_hal_queue_affinity_t queue_affinity) {
  return vtableOfDevice(device).queue_flush(device, queue_affinity);
}

iree_status_t iree_hal_device_wait_semaphores(iree_hal_device_t* device,
                                              iree_async_wait_mode_t wait_mode,
                                              const iree_hal_semaphore_list_t semaphore_list,
                                              iree_timeout_t timeout,
                                              iree_async_wait_flags_t flags) {
  if (semaphore_list.count <= 1)
    return iree_hal_semaphore_list_wait(semaphore_list, timeout, flags);
  return iree_async_semaphore_multi_wait(
      wait_mode, reinterpret_cast<iree_async_semaphore_t**>(semaphore_list.semaphores),
      semaphore_list.payload_values, semaphore_list.count, timeout, flags,
      iree_hal_device_host_allocator(device));
}

//===--- profiling and captures ---------------------------------------------------------------===//

iree_status_t iree_hal_device_profiling_begin(iree_hal_device_t* device,
                                              const iree_hal_device_profiling_options_t* options) {
  IREE_RETURN_IF_ERROR(bessemer::hal::checkProfilingRequest(*options));
  if (!bessemer::hal::requestsAnything(*options))
    return iree_ok_status();
  return vtableOfDevice(device).profiling_begin(device, options);
}

iree_status_t iree_hal_device_profiling_flush(iree_hal_device_t* device) {
  return vtableOfDevice(device).profiling_flush(device);
}

iree_status_t iree_hal_device_profiling_end(iree_hal_device_t* device) {
  return vtableOfDevice(device).profiling_end(device);
}

iree_status_t
iree_hal_device_external_capture_begin(iree_hal_device_t* device,
                                       const iree_hal_device_external_capture_options_t* options) {
  if (iree_string_view_is_empty(options->provider)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "an external capture names its provider");
  }
  return vtableOfDevice(device).external_capture_begin(device, options);
}

iree_status_t iree_hal_device_external_capture_end(iree_hal_device_t* device) {
  return vtableOfDevice(device).external_capture_end(device);
}

//===--- lists --------------------------------------------------------------------------------===//

iree_status_t iree_hal_device_list_allocate(iree_host_size_t capacity,
                                            iree_allocator_t host_allocator,
                                            iree_hal_device_list_t** out_list) {
  *out_list = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator,
                                                          sizeof(iree_hal_device_list_t), capacity,
                                                          sizeof(iree_hal_device_t*), &storage));
  auto* list = static_cast<iree_hal_device_list_t*>(storage);
  list->host_allocator = host_allocator;
  list->capacity = capacity;
  list->count = 0;
  *out_list = list;
  return iree_ok_status();
}

void iree_hal_device_list_free(iree_hal_device_list_t* list) {
  if (!list)
    return;
  for (iree_host_size_t i = 0; i < list->count; ++i)
    iree_hal_device_release(list->devices[i]);
  iree_allocator_free(list->host_allocator, list);
}

iree_status_t iree_hal_device_list_push_back(iree_hal_device_list_t* list,
                                             iree_hal_device_t* device) {
  if (list->count == list->capacity) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "device list has room for %" PRIhsz " devices and holds as many",
                            list->capacity);
  }
  iree_hal_device_retain(device);
  list->devices[list->count++] = device;
  return iree_ok_status();
}

iree_hal_device_t* iree_hal_device_list_at(const iree_hal_device_list_t* list, iree_host_size_t i) {
  return i < list->count ? list->devices[i] : nullptr;
}
