#ifndef IREE_HAL_UTILS_MEMORY_FILE_H_
#define IREE_HAL_UTILS_MEMORY_FILE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes a file of a handle to host memory, which is also a buffer where the device can use it.
IREE_API_EXPORT iree_status_t iree_hal_memory_file_wrap(iree_hal_allocator_t* device_allocator,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        iree_hal_memory_access_t access,
                                                        iree_io_file_handle_t* handle,
                                                        iree_allocator_t host_allocator,
                                                        iree_hal_file_t** out_file);

/// Whether a file is of this kind.
IREE_API_EXPORT bool iree_hal_memory_file_isa(iree_hal_file_t* file);

/// The bytes of a file of this kind.
IREE_API_EXPORT iree_status_t iree_hal_memory_file_contents(iree_hal_file_t* file,
                                                            iree_byte_span_t* out_contents);

#ifdef __cplusplus
}
#endif
#endif
