#ifndef IREE_HAL_BUFFER_TRANSFER_H_
#define IREE_HAL_BUFFER_TRANSFER_H_

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One side of a transfer: host memory, or a device buffer when that is not null.
typedef struct iree_hal_transfer_buffer_t {
  iree_byte_span_t host_buffer;
  iree_hal_buffer_t* device_buffer;
} iree_hal_transfer_buffer_t;

static inline iree_hal_transfer_buffer_t
iree_hal_make_host_transfer_buffer(iree_byte_span_t host_buffer) {
  iree_hal_transfer_buffer_t transfer_buffer;
  transfer_buffer.host_buffer = host_buffer;
  transfer_buffer.device_buffer = NULL;
  return transfer_buffer;
}

static inline iree_hal_transfer_buffer_t
iree_hal_make_host_transfer_buffer_span(void* ptr, iree_host_size_t length) {
  return iree_hal_make_host_transfer_buffer(iree_make_byte_span(ptr, length));
}

static inline iree_hal_transfer_buffer_t
iree_hal_make_device_transfer_buffer(iree_hal_buffer_t* device_buffer) {
  iree_hal_transfer_buffer_t transfer_buffer;
  transfer_buffer.host_buffer = iree_byte_span_empty();
  transfer_buffer.device_buffer = device_buffer;
  return transfer_buffer;
}

/// Copies between two sides, at least one of them on the device, and waits for it.
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_range(
    iree_hal_device_t* device, iree_hal_transfer_buffer_t source, iree_device_size_t source_offset,
    iree_hal_transfer_buffer_t target, iree_device_size_t target_offset,
    iree_device_size_t data_length, iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout);

/// Copies host memory to a buffer and waits: by mapping where that is possible, on a queue
/// elsewhere. What queues still do with the buffer is the caller's to await.
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_h2d(
    iree_hal_device_t* device, const void* source, iree_hal_buffer_t* target,
    iree_device_size_t target_offset, iree_device_size_t data_length,
    iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout);

/// Copies a buffer to host memory and waits.
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_d2h(
    iree_hal_device_t* device, iree_hal_buffer_t* source, iree_device_size_t source_offset,
    void* target, iree_device_size_t data_length, iree_hal_transfer_buffer_flags_t flags,
    iree_timeout_t timeout);

/// Copies between buffers on a queue and waits.
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_d2d(
    iree_hal_device_t* device, iree_hal_buffer_t* source, iree_device_size_t source_offset,
    iree_hal_buffer_t* target, iree_device_size_t target_offset, iree_device_size_t data_length,
    iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout);

/// A driver's map_range for memory that the host cannot see: maps a host copy. Scoped mappings
/// only.
IREE_API_EXPORT iree_status_t iree_hal_buffer_emulated_map_range(
    iree_hal_device_t* device, iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
    iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
    iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping);

/// Ends iree_hal_buffer_emulated_map_range, writing the copy back when it could be written.
IREE_API_EXPORT iree_status_t iree_hal_buffer_emulated_unmap_range(
    iree_hal_device_t* device, iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
    iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping);

#ifdef __cplusplus
}
#endif
#endif
