#ifndef IREE_HAL_UTILS_FILE_REGISTRY_H_
#define IREE_HAL_UTILS_FILE_REGISTRY_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/io/file_handle.h"

typedef struct iree_async_proactor_t iree_async_proactor_t;

#ifdef __cplusplus
extern "C" {
#endif

/// Makes a file for whatever kind of handle: host memory or a file descriptor.
IREE_API_EXPORT iree_status_t iree_hal_file_from_handle(
    iree_hal_allocator_t* device_allocator, iree_hal_queue_affinity_t queue_affinity,
    iree_hal_memory_access_t access, iree_io_file_handle_t* handle, iree_async_proactor_t* proactor,
    iree_allocator_t host_allocator, iree_hal_file_t** out_file);

#ifdef __cplusplus
}
#endif
#endif
