// Files, or memory that stands for one.

#ifndef IREE_IO_FILE_HANDLE_H_
#define IREE_IO_FILE_HANDLE_H_

#include <stdint.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t iree_io_file_access_t;
enum iree_io_file_access_bits_t {
  IREE_IO_FILE_ACCESS_READ = 1u << 0,
  IREE_IO_FILE_ACCESS_WRITE = 1u << 1,
};

// How a file is opened, and hints on its use.
typedef uint64_t iree_io_file_mode_t;
enum iree_io_file_mode_bits_t {
  IREE_IO_FILE_MODE_NONE = 0ull,
  IREE_IO_FILE_MODE_READ = 1ull << 0,
  IREE_IO_FILE_MODE_WRITE = 1ull << 1,
  IREE_IO_FILE_MODE_RANDOM_ACCESS = 1ull << 2,
  IREE_IO_FILE_MODE_SEQUENTIAL_SCAN = 1ull << 3,
  // Past the system's cache.
  IREE_IO_FILE_MODE_DIRECT = 1ull << 4,
  // Removed when closed.
  IREE_IO_FILE_MODE_TEMPORARY = 1ull << 5,
  IREE_IO_FILE_MODE_SHARE_READ = 1ull << 6,
  IREE_IO_FILE_MODE_SHARE_WRITE = 1ull << 7,
  // Creating replaces a file that is there.
  IREE_IO_FILE_MODE_OVERWRITE = 1ull << 8,
  // For asynchronous transfers.
  IREE_IO_FILE_MODE_ASYNC = 1ull << 9,
};

typedef enum iree_io_file_handle_type_e {
  IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION = 0u,
  IREE_IO_FILE_HANDLE_TYPE_FD,
} iree_io_file_handle_type_t;

typedef union iree_io_file_handle_primitive_value_t {
  iree_byte_span_t host_allocation;
  int fd;
} iree_io_file_handle_primitive_value_t;

typedef struct iree_io_file_handle_primitive_t {
  iree_io_file_handle_type_t type;
  iree_io_file_handle_primitive_value_t value;
} iree_io_file_handle_primitive_t;

// Told that the handle is gone, so that what it wrapped can be closed or freed.
typedef void(IREE_API_PTR* iree_io_file_handle_release_fn_t)(
    void* user_data, iree_io_file_handle_primitive_t handle_primitive);

typedef struct iree_io_file_handle_release_callback_t {
  iree_io_file_handle_release_fn_t fn;
  void* user_data;
} iree_io_file_handle_release_callback_t;

static inline iree_io_file_handle_release_callback_t
iree_io_file_handle_release_callback_null(void) {
  iree_io_file_handle_release_callback_t callback;
  callback.fn = NULL;
  callback.user_data = NULL;
  return callback;
}

// Reference counted and thread safe.
typedef struct iree_io_file_handle_t iree_io_file_handle_t;

IREE_API_EXPORT iree_status_t
iree_io_file_handle_wrap(iree_io_file_access_t allowed_access, iree_io_file_mode_t mode,
                         iree_io_file_handle_primitive_t handle_primitive,
                         iree_io_file_handle_release_callback_t release_callback,
                         iree_allocator_t host_allocator, iree_io_file_handle_t** out_handle);
IREE_API_EXPORT iree_status_t iree_io_file_handle_wrap_host_allocation(
    iree_io_file_access_t allowed_access, iree_byte_span_t host_allocation,
    iree_io_file_handle_release_callback_t release_callback, iree_allocator_t host_allocator,
    iree_io_file_handle_t** out_handle);
IREE_API_EXPORT void iree_io_file_handle_retain(iree_io_file_handle_t* handle);
IREE_API_EXPORT void iree_io_file_handle_release(iree_io_file_handle_t* handle);

IREE_API_EXPORT iree_io_file_access_t
iree_io_file_handle_access(const iree_io_file_handle_t* handle);
IREE_API_EXPORT iree_io_file_handle_primitive_t
iree_io_file_handle_primitive(const iree_io_file_handle_t* handle);

static inline iree_io_file_handle_type_t
iree_io_file_handle_type(const iree_io_file_handle_t* handle) {
  return iree_io_file_handle_primitive(handle).type;
}

static inline iree_io_file_handle_primitive_value_t
iree_io_file_handle_value(const iree_io_file_handle_t* handle) {
  return iree_io_file_handle_primitive(handle).value;
}

// Writes what is still buffered to the medium; does nothing for memory.
IREE_API_EXPORT iree_status_t iree_io_file_handle_flush(iree_io_file_handle_t* handle);
// Whether it was opened for asynchronous transfers.
IREE_API_EXPORT bool iree_io_file_handle_uses_async_io(const iree_io_file_handle_t* handle);

// A new file of `initial_size` zero bytes. ALREADY_EXISTS unless the mode says OVERWRITE.
IREE_API_EXPORT iree_status_t iree_io_file_handle_create(iree_io_file_mode_t mode,
                                                         iree_string_view_t path,
                                                         uint64_t initial_size,
                                                         iree_allocator_t host_allocator,
                                                         iree_io_file_handle_t** out_handle);
IREE_API_EXPORT iree_status_t iree_io_file_handle_open(iree_io_file_mode_t mode,
                                                       iree_string_view_t path,
                                                       iree_allocator_t host_allocator,
                                                       iree_io_file_handle_t** out_handle);
// A duplicate of an open descriptor, which stays the caller's.
IREE_API_EXPORT iree_status_t iree_io_file_handle_open_fd(iree_io_file_mode_t mode, int fd,
                                                          iree_allocator_t host_allocator,
                                                          iree_io_file_handle_t** out_handle);
// The contents of a file as a memory handle.
IREE_API_EXPORT iree_status_t iree_io_file_handle_preload(iree_io_file_mode_t mode,
                                                          iree_string_view_t path,
                                                          iree_allocator_t host_allocator,
                                                          iree_io_file_handle_t** out_handle);

typedef uint64_t iree_io_file_mapping_flags_t;
enum iree_io_file_mapping_flag_bits_t {
  IREE_IO_FILE_MAPPING_FLAG_NONE = 0u,
  IREE_IO_FILE_MAPPING_FLAG_SEQUENTIAL_ACCESS = 1ull << 0,
  IREE_IO_FILE_MAPPING_FLAG_LARGE_PAGES = 1ull << 1,
  IREE_IO_FILE_MAPPING_FLAG_EXCLUDE_FROM_DUMPS = 1ull << 2,
  // Writes stay in this mapping.
  IREE_IO_FILE_MAPPING_FLAG_PRIVATE = 1ull << 3,
};

// Part of a file as memory. Reference counted; keeps the handle alive.
typedef struct iree_io_file_mapping_t iree_io_file_mapping_t;

// Any offset; a length of IREE_HOST_SIZE_MAX goes to the end. OUT_OF_RANGE beyond it.
IREE_API_EXPORT iree_status_t iree_io_file_map_view(iree_io_file_handle_t* handle,
                                                    iree_io_file_access_t access, uint64_t offset,
                                                    iree_host_size_t length,
                                                    iree_io_file_mapping_flags_t flags,
                                                    iree_allocator_t host_allocator,
                                                    iree_io_file_mapping_t** out_mapping);
IREE_API_EXPORT void iree_io_file_mapping_retain(iree_io_file_mapping_t* mapping);
IREE_API_EXPORT void iree_io_file_mapping_release(iree_io_file_mapping_t* mapping);
IREE_API_EXPORT iree_host_size_t iree_io_file_mapping_length(const iree_io_file_mapping_t* mapping);
IREE_API_EXPORT iree_const_byte_span_t
iree_io_file_mapping_contents_ro(const iree_io_file_mapping_t* mapping);
// Empty when the mapping may not be written.
IREE_API_EXPORT iree_byte_span_t iree_io_file_mapping_contents_rw(iree_io_file_mapping_t* mapping);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_IO_FILE_HANDLE_H_
