// Transfers between files and buffers that the driver's queue cannot make itself: a copy on the
// queue where the file is a buffer, otherwise chunks read or written by a thread of their own once
// the waits are over.

#include "iree/hal/utils/file_transfer.h"

#include <algorithm>
#include <thread>

#include "hal/hal/semaphore_wait.h"

namespace {

constexpr iree_device_size_t kDefaultChunkSize = 8 * 1024 * 1024;

enum class Direction { Read, Write };

/// One transfer; everything it touches is retained.
struct Transfer {
  Direction direction;
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t affinity;
  iree_hal_semaphore_list_t signals;
  iree_hal_file_t* file;
  uint64_t fileOffset;
  iree_hal_buffer_t* buffer;
  iree_device_size_t bufferOffset;
  iree_device_size_t length;
  iree_device_size_t chunkSize;

  ~Transfer() {
    iree_hal_semaphore_list_free(signals, iree_hal_device_host_allocator(device));
    iree_hal_buffer_release(buffer);
    iree_hal_file_release(file);
    iree_hal_device_release(device);
  }

  void settle(iree_status_t status) {
    if (iree_status_is_ok(status))
      status = iree_hal_semaphore_list_signal(signals, nullptr);
    if (!iree_status_is_ok(status))
      iree_hal_semaphore_list_fail(signals, status);
  }

  iree_status_t run() {
    if (length == 0)
      return iree_ok_status();
    if (isMappable(buffer))
      return fileAccess(buffer, bufferOffset, 0, length);
    iree_hal_buffer_t* staging = nullptr;
    iree_hal_semaphore_t* semaphore = nullptr;
    iree_status_t status = allocateStaging(&staging, &semaphore);
    uint64_t step = 0;
    for (iree_device_size_t done = 0; done < length && iree_status_is_ok(status);) {
      const iree_device_size_t size = std::min(chunkSize, length - done);
      if (direction == Direction::Read)
        status = fileAccess(staging, 0, done, size);
      if (iree_status_is_ok(status))
        status = copy(staging, done, size, semaphore, ++step);
      if (iree_status_is_ok(status) && direction == Direction::Write) {
        status = fileAccess(staging, 0, done, size);
      }
      done += size;
    }
    iree_hal_semaphore_release(semaphore);
    iree_hal_buffer_release(staging);
    return status;
  }

private:
  static bool isMappable(iree_hal_buffer_t* buffer) {
    return iree_all_bits_set(iree_hal_buffer_memory_type(buffer),
                             IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
           iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer),
                             IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED);
  }

  iree_status_t fileAccess(iree_hal_buffer_t* host, iree_device_size_t hostOffset,
                           iree_device_size_t done, iree_device_size_t size) {
    return direction == Direction::Read
               ? iree_hal_file_read(file, fileOffset + done, host, hostOffset, size)
               : iree_hal_file_write(file, fileOffset + done, host, hostOffset, size);
  }

  iree_status_t allocateStaging(iree_hal_buffer_t** staging, iree_hal_semaphore_t** semaphore) {
    iree_hal_buffer_params_t params = {};
    params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
    params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING;
    params.queue_affinity = affinity;
    IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(
        iree_hal_device_allocator(device), params, std::min(chunkSize, length), staging));
    return iree_hal_semaphore_create(device, affinity, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                     semaphore);
  }

  iree_status_t copy(iree_hal_buffer_t* staging, iree_device_size_t done, iree_device_size_t size,
                     iree_hal_semaphore_t* semaphore, uint64_t step) {
    iree_hal_semaphore_list_t signal = {1, &semaphore, &step};
    const bool reading = direction == Direction::Read;
    IREE_RETURN_IF_ERROR(iree_hal_device_queue_copy(
        device, affinity, iree_hal_semaphore_list_empty(), signal, reading ? staging : buffer,
        reading ? 0 : bufferOffset + done, reading ? buffer : staging,
        reading ? bufferOffset + done : 0, size, IREE_HAL_COPY_FLAG_NONE));
    return iree_hal_semaphore_wait(semaphore, step, iree_infinite_timeout(),
                                   IREE_ASYNC_WAIT_FLAG_NONE);
  }
};

iree_status_t start(Direction direction, iree_hal_device_t* device,
                    iree_hal_queue_affinity_t affinity, iree_hal_semaphore_list_t waits,
                    iree_hal_semaphore_list_t signals, iree_hal_file_t* file, uint64_t fileOffset,
                    iree_hal_buffer_t* buffer, iree_device_size_t bufferOffset,
                    iree_device_size_t length, iree_hal_file_transfer_options_t options) {
  if (iree_hal_buffer_t* storage = iree_hal_file_storage_buffer(file)) {
    IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_range(storage, fileOffset, length));
    const bool reading = direction == Direction::Read;
    return iree_hal_device_queue_copy(
        device, affinity, waits, signals, reading ? storage : buffer,
        reading ? fileOffset : bufferOffset, reading ? buffer : storage,
        reading ? bufferOffset : fileOffset, length, IREE_HAL_COPY_FLAG_NONE);
  }
  if (!iree_hal_file_supports_synchronous_io(file)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "files without synchronous reads and writes cannot be streamed");
  }
  iree_allocator_t hostAllocator = iree_hal_device_host_allocator(device);
  iree_hal_semaphore_list_t retainedSignals;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_list_clone(&signals, hostAllocator, &retainedSignals));
  iree_hal_device_retain(device);
  iree_hal_file_retain(file);
  iree_hal_buffer_retain(buffer);
  auto* transfer = new Transfer{
      .direction = direction,
      .device = device,
      .affinity = affinity,
      .signals = retainedSignals,
      .file = file,
      .fileOffset = fileOffset,
      .buffer = buffer,
      .bufferOffset = bufferOffset,
      .length = length,
      .chunkSize = options.chunk_size ? options.chunk_size : kDefaultChunkSize,
  };
  iree_status_t status =
      bessemer::hal::whenReached(waits, hostAllocator, [transfer](iree_status_t waitStatus) {
        if (!iree_status_is_ok(waitStatus)) {
          transfer->settle(waitStatus);
          delete transfer;
          return;
        }
        std::thread([transfer] {
          transfer->settle(transfer->run());
          delete transfer;
        }).detach();
      });
  if (!iree_status_is_ok(status))
    delete transfer;
  return status;
}

} // namespace

iree_status_t iree_hal_device_queue_read_streaming(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_file_t* source_file,
    uint64_t source_offset, iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
    iree_device_size_t length, iree_hal_read_flags_t, iree_hal_file_transfer_options_t options) {
  return start(Direction::Read, device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
               source_file, source_offset, target_buffer, target_offset, length, options);
}

iree_status_t iree_hal_device_queue_write_streaming(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
    iree_device_size_t source_offset, iree_hal_file_t* target_file, uint64_t target_offset,
    iree_device_size_t length, iree_hal_write_flags_t, iree_hal_file_transfer_options_t options) {
  return start(Direction::Write, device, queue_affinity, wait_semaphore_list, signal_semaphore_list,
               target_file, target_offset, source_buffer, source_offset, length, options);
}
