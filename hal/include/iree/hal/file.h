#ifndef IREE_HAL_FILE_H_
#define IREE_HAL_FILE_H_

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include "iree/io/file_handle.h"
#include <stdint.h>

typedef struct iree_async_file_t iree_async_file_t;

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

enum iree_hal_file_mode_bits_t {
  IREE_HAL_FILE_MODE_OPEN = 1u << 0,
};
typedef uint32_t iree_hal_file_mode_t;

enum iree_hal_external_file_flag_bits_t {
  IREE_HAL_EXTERNAL_FILE_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_external_file_flags_t;

typedef struct iree_hal_file_t iree_hal_file_t;

/// Makes a file of an open handle, for access that the handle allows.
IREE_API_EXPORT iree_status_t iree_hal_file_import(iree_hal_device_t* device,
                                                   iree_hal_queue_affinity_t queue_affinity,
                                                   iree_hal_memory_access_t access,
                                                   iree_io_file_handle_t* handle,
                                                   iree_hal_external_file_flags_t flags,
                                                   iree_hal_file_t** out_file);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_file_retain(iree_hal_file_t* file);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_file_release(iree_hal_file_t* file);

/// The access it was imported for.
IREE_API_EXPORT iree_hal_memory_access_t iree_hal_file_allowed_access(iree_hal_file_t* file);

/// Bytes of the file now.
IREE_API_EXPORT uint64_t iree_hal_file_length(iree_hal_file_t* file);

/// The file's contents as a buffer, not retained; null where they are not in memory that the
/// device sees.
IREE_API_EXPORT iree_hal_buffer_t* iree_hal_file_storage_buffer(iree_hal_file_t* file);

/// The file for asynchronous access; null where there is none.
IREE_API_EXPORT iree_async_file_t* iree_hal_file_async_handle(iree_hal_file_t* file);

/// PERMISSION_DENIED unless all required access is allowed.
IREE_API_EXPORT iree_status_t
iree_hal_file_validate_access(iree_hal_file_t* file, iree_hal_memory_access_t required_access);

/// Whether iree_hal_file_read and iree_hal_file_write work.
IREE_API_EXPORT bool iree_hal_file_supports_synchronous_io(iree_hal_file_t* file);

/// Reads into a mappable buffer and returns when done.
IREE_API_EXPORT iree_status_t iree_hal_file_read(iree_hal_file_t* file, uint64_t file_offset,
                                                 iree_hal_buffer_t* buffer,
                                                 iree_device_size_t buffer_offset,
                                                 iree_device_size_t length);

/// Writes from a mappable buffer and returns when done.
IREE_API_EXPORT iree_status_t iree_hal_file_write(iree_hal_file_t* file, uint64_t file_offset,
                                                  iree_hal_buffer_t* buffer,
                                                  iree_device_size_t buffer_offset,
                                                  iree_device_size_t length);

typedef struct iree_hal_file_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_file_t* IREE_RESTRICT file);
  iree_hal_memory_access_t(IREE_API_PTR* allowed_access)(iree_hal_file_t* file);
  uint64_t(IREE_API_PTR* length)(iree_hal_file_t* file);
  iree_hal_buffer_t*(IREE_API_PTR* storage_buffer)(iree_hal_file_t* file);
  iree_async_file_t*(IREE_API_PTR* async_handle)(iree_hal_file_t* file);
  bool(IREE_API_PTR* supports_synchronous_io)(iree_hal_file_t* file);
  iree_status_t(IREE_API_PTR* read)(iree_hal_file_t* file, uint64_t file_offset,
                                    iree_hal_buffer_t* buffer, iree_device_size_t buffer_offset,
                                    iree_device_size_t length);
  iree_status_t(IREE_API_PTR* write)(iree_hal_file_t* file, uint64_t file_offset,
                                     iree_hal_buffer_t* buffer, iree_device_size_t buffer_offset,
                                     iree_device_size_t length);
} iree_hal_file_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_file_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_file_destroy(iree_hal_file_t* file);

#ifdef __cplusplus
}
#endif
#endif
