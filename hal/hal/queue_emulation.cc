// Direct queue operations for drivers whose queues only execute command buffers: each becomes a
// command buffer that is submitted once.

#include "iree/hal/utils/queue_emulation.h"

#include <algorithm>

namespace {

/// Submits `commandBuffer`, whose creation or recording had `status`, and releases it.
iree_status_t submit(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity,
                     iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                     iree_hal_command_buffer_t* commandBuffer, iree_status_t status) {
  if (iree_status_is_ok(status)) {
    status = iree_hal_device_queue_execute(device, affinity, waits, signals, commandBuffer,
                                           iree_hal_buffer_binding_table_empty(),
                                           IREE_HAL_EXECUTE_FLAG_NONE);
  }
  iree_hal_command_buffer_release(commandBuffer);
  return status;
}

iree_status_t submitTransfer(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity,
                             iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                             const iree_hal_transfer_command_t& command) {
  iree_hal_command_buffer_t* commandBuffer = nullptr;
  iree_status_t status = iree_hal_create_transfer_command_buffer(
      device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, affinity, 1, &command, &commandBuffer);
  return submit(device, affinity, waits, signals, commandBuffer, status);
}

} // namespace

iree_status_t iree_hal_device_queue_emulated_fill(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, const void* pattern,
    iree_host_size_t pattern_length, iree_hal_fill_flags_t) {
  iree_hal_transfer_command_t command = {};
  command.type = IREE_HAL_TRANSFER_COMMAND_TYPE_FILL;
  command.fill = {target_buffer, target_offset, length, pattern, pattern_length};
  return submitTransfer(device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                        command);
}

iree_status_t iree_hal_device_queue_emulated_update(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
    iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, iree_hal_update_flags_t flags) {
  iree_hal_command_buffer_t* commandBuffer = nullptr;
  iree_status_t status = iree_hal_command_buffer_create(
      device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, IREE_HAL_COMMAND_CATEGORY_TRANSFER,
      queue_affinity, 0, &commandBuffer);
  if (iree_status_is_ok(status))
    status = iree_hal_command_buffer_begin(commandBuffer);
  // Commands carry at most so much; the queue operation has no limit.
  for (iree_device_size_t done = 0; done < length && iree_status_is_ok(status);) {
    const iree_device_size_t size =
        std::min<iree_device_size_t>(length - done, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
    status = iree_hal_command_buffer_update_buffer(
        commandBuffer, source_buffer, source_offset + (iree_host_size_t)done,
        iree_hal_make_buffer_ref(target_buffer, target_offset + done, size), flags);
    done += size;
  }
  if (iree_status_is_ok(status))
    status = iree_hal_command_buffer_end(commandBuffer);
  return submit(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, commandBuffer,
                status);
}

iree_status_t iree_hal_device_queue_emulated_copy(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
    iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, iree_hal_copy_flags_t) {
  iree_hal_transfer_command_t command = {};
  command.type = IREE_HAL_TRANSFER_COMMAND_TYPE_COPY;
  command.copy = {source_buffer, source_offset, target_buffer, target_offset, length};
  return submitTransfer(device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                        command);
}

iree_status_t iree_hal_device_queue_emulated_dispatch(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_executable_t* executable,
    iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config,
    iree_const_byte_span_t constants, const iree_hal_buffer_ref_list_t bindings,
    iree_hal_dispatch_flags_t flags) {
  iree_hal_command_buffer_mode_t mode = IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT;
  if (iree_any_bit_set(flags, IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES)) {
    mode |= IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED;
  }
  iree_hal_command_buffer_t* commandBuffer = nullptr;
  iree_status_t status = iree_hal_command_buffer_create(
      device, mode, IREE_HAL_COMMAND_CATEGORY_DISPATCH, queue_affinity, 0, &commandBuffer);
  if (iree_status_is_ok(status))
    status = iree_hal_command_buffer_begin(commandBuffer);
  if (iree_status_is_ok(status)) {
    status = iree_hal_command_buffer_dispatch(
        commandBuffer, executable, function, config, constants, bindings,
        flags & ~IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES);
  }
  if (iree_status_is_ok(status))
    status = iree_hal_command_buffer_end(commandBuffer);
  return submit(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, commandBuffer,
                status);
}
