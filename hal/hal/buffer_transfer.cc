// Blocking transfers between host memory and device buffers, and mapping for drivers whose memory
// the host cannot see.

#include "iree/hal/buffer_transfer.h"

#include <cstring>

#include "iree/hal/allocator.h"

namespace {

bool isMappable(iree_hal_buffer_t* buffer) {
  return iree_all_bits_set(iree_hal_buffer_memory_type(buffer),
                           IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
         iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer),
                           IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED);
}

/// Submits one operation with `submit(signalList)` and waits for it.
template <typename Submit>
iree_status_t runAndWait(iree_hal_device_t* device, iree_timeout_t timeout, Submit submit) {
  iree_hal_semaphore_t* semaphore = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                 IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  uint64_t value = 1;
  iree_hal_semaphore_list_t signal = {1, &semaphore, &value};
  iree_status_t status = submit(signal);
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_wait(semaphore, value, timeout, IREE_ASYNC_WAIT_FLAG_NONE);
    // The wait tells the code of a failure; the semaphore knows the whole story.
    uint64_t reached = 0;
    if (!iree_status_is_ok(status) && !iree_status_is_deadline_exceeded(status)) {
      iree_status_t failure = iree_hal_semaphore_query(semaphore, &reached);
      if (!iree_status_is_ok(failure)) {
        iree_status_ignore(status);
        status = failure;
      }
    }
  }
  iree_hal_semaphore_release(semaphore);
  return status;
}

} // namespace

iree_status_t
iree_hal_device_transfer_range(iree_hal_device_t* device, iree_hal_transfer_buffer_t source,
                               iree_device_size_t source_offset, iree_hal_transfer_buffer_t target,
                               iree_device_size_t target_offset, iree_device_size_t data_length,
                               iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout) {
  if (data_length == 0)
    return iree_ok_status();
  for (const auto* side : {&source, &target}) {
    const iree_device_size_t offset = side == &source ? source_offset : target_offset;
    if (side->device_buffer)
      continue;
    if (offset > side->host_buffer.data_length ||
        data_length > side->host_buffer.data_length - offset) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "a transfer of %" PRIdsz " bytes at offset %" PRIdsz
                              " leaves the host range of %" PRIhsz " bytes",
                              data_length, offset, side->host_buffer.data_length);
    }
  }
  if (source.device_buffer && target.device_buffer) {
    return iree_hal_device_transfer_d2d(device, source.device_buffer, source_offset,
                                        target.device_buffer, target_offset, data_length, flags,
                                        timeout);
  }
  if (source.device_buffer) {
    return iree_hal_device_transfer_d2h(device, source.device_buffer, source_offset,
                                        target.host_buffer.data + target_offset, data_length, flags,
                                        timeout);
  }
  if (target.device_buffer) {
    return iree_hal_device_transfer_h2d(device, source.host_buffer.data + source_offset,
                                        target.device_buffer, target_offset, data_length, flags,
                                        timeout);
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a transfer needs a device buffer");
}

iree_status_t iree_hal_device_transfer_h2d(iree_hal_device_t* device, const void* source,
                                           iree_hal_buffer_t* target,
                                           iree_device_size_t target_offset,
                                           iree_device_size_t data_length,
                                           iree_hal_transfer_buffer_flags_t,
                                           iree_timeout_t timeout) {
  if (isMappable(target)) {
    return iree_hal_buffer_map_write(target, target_offset, source, data_length);
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_range(target, target_offset, data_length));
  return runAndWait(device, timeout, [&](iree_hal_semaphore_list_t signal) {
    return iree_hal_device_queue_update(device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                        iree_hal_semaphore_list_empty(), signal, source, 0, target,
                                        target_offset, data_length, IREE_HAL_UPDATE_FLAG_NONE);
  });
}

iree_status_t iree_hal_device_transfer_d2h(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                           iree_device_size_t source_offset, void* target,
                                           iree_device_size_t data_length,
                                           iree_hal_transfer_buffer_flags_t,
                                           iree_timeout_t timeout) {
  if (isMappable(source)) {
    return iree_hal_buffer_map_read(source, source_offset, target, data_length);
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_range(source, source_offset, data_length));
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET | IREE_HAL_BUFFER_USAGE_MAPPING;
  iree_hal_buffer_t* staging = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params,
                                                          data_length, &staging));
  iree_status_t status =
      iree_hal_device_transfer_d2d(device, source, source_offset, staging, 0, data_length,
                                   IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, timeout);
  if (iree_status_is_ok(status)) {
    status = iree_hal_buffer_map_read(staging, 0, target, data_length);
  }
  iree_hal_buffer_release(staging);
  return status;
}

iree_status_t
iree_hal_device_transfer_d2d(iree_hal_device_t* device, iree_hal_buffer_t* source,
                             iree_device_size_t source_offset, iree_hal_buffer_t* target,
                             iree_device_size_t target_offset, iree_device_size_t data_length,
                             iree_hal_transfer_buffer_flags_t, iree_timeout_t timeout) {
  if (data_length == 0)
    return iree_ok_status();
  return runAndWait(device, timeout, [&](iree_hal_semaphore_list_t signal) {
    return iree_hal_device_queue_copy(
        device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), signal, source,
        source_offset, target, target_offset, data_length, IREE_HAL_COPY_FLAG_NONE);
  });
}

//===--- emulated mapping ---------------------------------------------------------------------===//

iree_status_t iree_hal_buffer_emulated_map_range(
    iree_hal_device_t* device, iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
    iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
    iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  if (mapping_mode != IREE_HAL_MAPPING_MODE_SCOPED) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "an emulated mapping cannot be persistent");
  }
  // The contents live in host memory for as long as the buffer is mapped.
  iree_allocator_t hostAllocator = iree_hal_device_host_allocator(device);
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(hostAllocator, (iree_host_size_t)local_byte_length, &storage));
  if (!iree_any_bit_set(memory_access, IREE_HAL_MEMORY_ACCESS_DISCARD)) {
    // Bytes that are neither read nor written by the mapper come back as they were.
    iree_status_t status = iree_hal_device_transfer_d2h(
        device, buffer, local_byte_offset, storage, local_byte_length,
        IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
    if (!iree_status_is_ok(status)) {
      iree_allocator_free(hostAllocator, storage);
      return status;
    }
  }
  mapping->contents = iree_make_byte_span(storage, (iree_host_size_t)local_byte_length);
  mapping->impl.reserved[0] = reinterpret_cast<uintptr_t>(storage);
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_emulated_unmap_range(iree_hal_device_t* device,
                                                   iree_hal_buffer_t* buffer,
                                                   iree_device_size_t local_byte_offset,
                                                   iree_device_size_t local_byte_length,
                                                   iree_hal_buffer_mapping_t* mapping) {
  void* storage = reinterpret_cast<void*>(static_cast<uintptr_t>(mapping->impl.reserved[0]));
  iree_status_t status = iree_ok_status();
  if (iree_any_bit_set(mapping->impl.allowed_access, IREE_HAL_MEMORY_ACCESS_WRITE)) {
    status = iree_hal_device_transfer_h2d(device, storage, buffer, local_byte_offset,
                                          local_byte_length, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                          iree_infinite_timeout());
  }
  iree_allocator_free(iree_hal_device_host_allocator(device), storage);
  mapping->impl.reserved[0] = 0;
  return status;
}
