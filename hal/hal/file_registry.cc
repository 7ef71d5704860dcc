#include "iree/hal/utils/file_registry.h"

#include "iree/hal/utils/fd_file.h"
#include "iree/hal/utils/memory_file.h"

iree_status_t
iree_hal_file_from_handle(iree_hal_allocator_t* device_allocator,
                          iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_access_t access,
                          iree_io_file_handle_t* handle, iree_async_proactor_t* proactor,
                          iree_allocator_t host_allocator, iree_hal_file_t** out_file) {
  *out_file = nullptr;
  switch (iree_io_file_handle_type(handle)) {
  case IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION:
    return iree_hal_memory_file_wrap(device_allocator, queue_affinity, access, handle,
                                     host_allocator, out_file);
  case IREE_IO_FILE_HANDLE_TYPE_FD:
    return iree_hal_fd_file_from_handle(access, handle, proactor, host_allocator, out_file);
  default:
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "files of kind %d cannot be imported",
                            (int)iree_io_file_handle_type(handle));
  }
}
