#ifndef IREE_HAL_UTILS_FILE_TRANSFER_H_
#define IREE_HAL_UTILS_FILE_TRANSFER_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_FILE_TRANSFER_CHUNK_COUNT_DEFAULT 0
#define IREE_HAL_FILE_TRANSFER_CHUNK_SIZE_DEFAULT 0

/// How transfers are cut up; zeros are defaults.
typedef struct iree_hal_file_transfer_options_t {
  iree_device_size_t chunk_count;
  iree_device_size_t chunk_size;
} iree_hal_file_transfer_options_t;

/// A driver's queue_read: a copy on the queue where the file is a buffer, chunks through host
/// memory elsewhere.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_read_streaming(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_file_t* source_file,
    uint64_t source_offset, iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
    iree_device_size_t length, iree_hal_read_flags_t flags,
    iree_hal_file_transfer_options_t options);

/// A driver's queue_write; see iree_hal_device_queue_read_streaming.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_write_streaming(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
    iree_device_size_t source_offset, iree_hal_file_t* target_file, uint64_t target_offset,
    iree_device_size_t length, iree_hal_write_flags_t flags,
    iree_hal_file_transfer_options_t options);

#ifdef __cplusplus
}
#endif
#endif
