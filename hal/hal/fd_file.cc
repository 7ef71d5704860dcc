// A file behind a POSIX file descriptor.

#include "iree/hal/utils/fd_file.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include "hal/hal/file_buffers.h"
#include "hal/hal/object.h"

namespace {

struct FdFile {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  iree_hal_memory_access_t access;
  iree_io_file_handle_t* handle;
  int fd;
};

FdFile* cast(iree_hal_file_t* file) { return reinterpret_cast<FdFile*>(file); }

iree_status_t ioError(const char* what) {
  return iree_make_status(iree_status_code_from_errno(errno), "%s: %s", what, std::strerror(errno));
}

void destroy(iree_hal_file_t* IREE_RESTRICT base) {
  FdFile* file = cast(base);
  iree_allocator_t hostAllocator = file->hostAllocator;
  iree_io_file_handle_release(file->handle);
  iree_allocator_free(hostAllocator, file);
}

iree_hal_memory_access_t allowedAccess(iree_hal_file_t* file) { return cast(file)->access; }

uint64_t length(iree_hal_file_t* file) {
  struct stat info;
  return fstat(cast(file)->fd, &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

iree_hal_buffer_t* storageBuffer(iree_hal_file_t*) { return nullptr; }

iree_async_file_t* asyncHandle(iree_hal_file_t*) { return nullptr; }

bool supportsSynchronousIo(iree_hal_file_t*) { return true; }

iree_status_t readFile(iree_hal_file_t* file, uint64_t fileOffset, iree_hal_buffer_t* buffer,
                       iree_device_size_t bufferOffset, iree_device_size_t byteCount) {
  if (byteCount == 0)
    return iree_ok_status();
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, bufferOffset,
                                                 byteCount, &mapping));
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t done = 0; done < mapping.contents.data_length;) {
    const ssize_t count = pread(cast(file)->fd, mapping.contents.data + done,
                                mapping.contents.data_length - done, fileOffset + done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      status = ioError("reading a file");
    } else if (count == 0) {
      status = iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                                "the file ends at byte %" PRIu64 ", %" PRIhsz
                                " bytes into a read of %" PRIhsz,
                                fileOffset + done, done, mapping.contents.data_length);
    }
    if (!iree_status_is_ok(status))
      break;
    done += count;
  }
  if (iree_status_is_ok(status) &&
      !iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_HOST_COHERENT)) {
    status = iree_hal_buffer_mapping_flush_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  }
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

iree_status_t writeFile(iree_hal_file_t* file, uint64_t fileOffset, iree_hal_buffer_t* buffer,
                        iree_device_size_t bufferOffset, iree_device_size_t byteCount) {
  if (byteCount == 0)
    return iree_ok_status();
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_READ, bufferOffset,
                                                 byteCount, &mapping));
  iree_status_t status = iree_ok_status();
  if (!iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_HOST_COHERENT)) {
    status = iree_hal_buffer_mapping_invalidate_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  }
  for (iree_host_size_t done = 0;
       iree_status_is_ok(status) && done < mapping.contents.data_length;) {
    const ssize_t count = pwrite(cast(file)->fd, mapping.contents.data + done,
                                 mapping.contents.data_length - done, fileOffset + done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      status = ioError("writing a file");
    } else {
      done += count;
    }
  }
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

const iree_hal_file_vtable_t kVtable = {
    .destroy = destroy,
    .allowed_access = allowedAccess,
    .length = length,
    .storage_buffer = storageBuffer,
    .async_handle = asyncHandle,
    .supports_synchronous_io = supportsSynchronousIo,
    .read = readFile,
    .write = writeFile,
};

} // namespace

iree_status_t iree_hal_fd_file_from_handle(iree_hal_memory_access_t access,
                                           iree_io_file_handle_t* handle, iree_async_proactor_t*,
                                           iree_allocator_t host_allocator,
                                           iree_hal_file_t** out_file) {
  *out_file = nullptr;
  IREE_RETURN_IF_ERROR(bessemer::hal::checkFileAccess(handle, access));
  if (iree_io_file_handle_type(handle) != IREE_IO_FILE_HANDLE_TYPE_FD) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the file has no file descriptor");
  }
  FdFile* file = nullptr;
  IREE_RETURN_IF_ERROR(bessemer::hal::allocateObject(host_allocator, 0, &file));
  iree_hal_resource_initialize(&kVtable, &file->resource);
  file->hostAllocator = host_allocator;
  file->access = access;
  file->handle = handle;
  iree_io_file_handle_retain(handle);
  file->fd = iree_io_file_handle_value(handle).fd;
  *out_file = reinterpret_cast<iree_hal_file_t*>(file);
  return iree_ok_status();
}
