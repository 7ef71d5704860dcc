// A file in host memory. Where the device can use that memory it is also a buffer, and transfers
// are copies on the queue.

#include "iree/hal/utils/memory_file.h"

#include "hal/hal/file_buffers.h"
#include "hal/hal/object.h"

namespace bessemer::hal {

iree_status_t checkFileAccess(iree_io_file_handle_t* handle, iree_hal_memory_access_t access) {
  const iree_io_file_access_t opened = iree_io_file_handle_access(handle);
  const bool reads = iree_any_bit_set(access, IREE_HAL_MEMORY_ACCESS_READ);
  const bool writes =
      iree_any_bit_set(access, IREE_HAL_MEMORY_ACCESS_WRITE | IREE_HAL_MEMORY_ACCESS_DISCARD);
  if ((reads && !iree_any_bit_set(opened, IREE_IO_FILE_ACCESS_READ)) ||
      (writes && !iree_any_bit_set(opened, IREE_IO_FILE_ACCESS_WRITE))) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the file was not opened for %s",
                            writes ? "writing" : "reading");
  }
  return iree_ok_status();
}

} // namespace bessemer::hal

namespace {

struct MemoryFile {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  iree_hal_memory_access_t access;
  iree_io_file_handle_t* handle;
  iree_byte_span_t contents;
  /// The contents as the device sees them; null when it cannot.
  iree_hal_buffer_t* storage;
};

MemoryFile* cast(iree_hal_file_t* file) { return reinterpret_cast<MemoryFile*>(file); }

void destroy(iree_hal_file_t* IREE_RESTRICT base) {
  MemoryFile* file = cast(base);
  iree_allocator_t hostAllocator = file->hostAllocator;
  iree_hal_buffer_release(file->storage);
  iree_io_file_handle_release(file->handle);
  iree_allocator_free(hostAllocator, file);
}

iree_hal_memory_access_t allowedAccess(iree_hal_file_t* file) { return cast(file)->access; }

uint64_t length(iree_hal_file_t* file) { return cast(file)->contents.data_length; }

iree_hal_buffer_t* storageBuffer(iree_hal_file_t* file) { return cast(file)->storage; }

iree_async_file_t* asyncHandle(iree_hal_file_t*) { return nullptr; }

bool supportsSynchronousIo(iree_hal_file_t*) { return true; }

iree_status_t rangeAt(MemoryFile* file, uint64_t offset, iree_device_size_t byteCount,
                      uint8_t** out_data) {
  if (offset > file->contents.data_length || byteCount > file->contents.data_length - offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "%" PRIdsz " bytes at offset %" PRIu64 " leave the file of %" PRIhsz
                            " bytes",
                            byteCount, offset, file->contents.data_length);
  }
  *out_data = file->contents.data + offset;
  return iree_ok_status();
}

iree_status_t readFile(iree_hal_file_t* file, uint64_t fileOffset, iree_hal_buffer_t* buffer,
                       iree_device_size_t bufferOffset, iree_device_size_t byteCount) {
  uint8_t* data = nullptr;
  IREE_RETURN_IF_ERROR(rangeAt(cast(file), fileOffset, byteCount, &data));
  return iree_hal_buffer_map_write(buffer, bufferOffset, data, byteCount);
}

iree_status_t writeFile(iree_hal_file_t* file, uint64_t fileOffset, iree_hal_buffer_t* buffer,
                        iree_device_size_t bufferOffset, iree_device_size_t byteCount) {
  uint8_t* data = nullptr;
  IREE_RETURN_IF_ERROR(rangeAt(cast(file), fileOffset, byteCount, &data));
  return iree_hal_buffer_map_read(buffer, bufferOffset, data, byteCount);
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

/// Makes the contents a device buffer where the device can use host memory in place.
iree_hal_buffer_t* tryImport(iree_hal_allocator_t* deviceAllocator,
                             iree_hal_queue_affinity_t affinity, iree_hal_memory_access_t access,
                             iree_io_file_handle_t* handle, iree_byte_span_t contents) {
  if (!deviceAllocator || contents.data_length == 0)
    return nullptr;
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING;
  params.access = access;
  params.queue_affinity = affinity;
  const auto needed =
      IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE | IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
  if (!iree_all_bits_set(iree_hal_allocator_query_buffer_compatibility(
                             deviceAllocator, params, contents.data_length, nullptr, nullptr),
                         needed)) {
    return nullptr;
  }
  iree_hal_external_buffer_t external = {};
  external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
  external.size = contents.data_length;
  external.handle.host_allocation.ptr = contents.data;
  // The buffer may outlive the file; the memory is the handle's.
  iree_hal_buffer_release_callback_t release = {};
  release.fn = [](void* user_data, iree_hal_buffer_t*) {
    iree_io_file_handle_release(static_cast<iree_io_file_handle_t*>(user_data));
  };
  release.user_data = handle;
  iree_io_file_handle_retain(handle);
  iree_hal_buffer_t* buffer = nullptr;
  iree_status_t status =
      iree_hal_allocator_import_buffer(deviceAllocator, params, &external, release, &buffer);
  if (!iree_status_is_ok(status)) {
    // Alignment or kind of memory may be against it; the file still works through the host.
    iree_status_ignore(status);
    iree_io_file_handle_release(handle);
    return nullptr;
  }
  return buffer;
}

} // namespace

iree_status_t iree_hal_memory_file_wrap(iree_hal_allocator_t* device_allocator,
                                        iree_hal_queue_affinity_t queue_affinity,
                                        iree_hal_memory_access_t access,
                                        iree_io_file_handle_t* handle,
                                        iree_allocator_t host_allocator,
                                        iree_hal_file_t** out_file) {
  *out_file = nullptr;
  IREE_RETURN_IF_ERROR(bessemer::hal::checkFileAccess(handle, access));
  if (iree_io_file_handle_type(handle) != IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the file is not in host memory");
  }
  MemoryFile* file = nullptr;
  IREE_RETURN_IF_ERROR(bessemer::hal::allocateObject(host_allocator, 0, &file));
  iree_hal_resource_initialize(&kVtable, &file->resource);
  file->hostAllocator = host_allocator;
  file->access = access;
  file->handle = handle;
  iree_io_file_handle_retain(handle);
  file->contents = iree_io_file_handle_value(handle).host_allocation;
  file->storage = tryImport(device_allocator, queue_affinity, access, handle, file->contents);
  *out_file = reinterpret_cast<iree_hal_file_t*>(file);
  return iree_ok_status();
}

bool iree_hal_memory_file_isa(iree_hal_file_t* file) {
  return iree_hal_resource_is(file, &kVtable);
}

iree_status_t iree_hal_memory_file_contents(iree_hal_file_t* file, iree_byte_span_t* out_contents) {
  *out_contents = iree_byte_span_empty();
  if (!iree_hal_memory_file_isa(file)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the file is not in host memory");
  }
  *out_contents = cast(file)->contents;
  return iree_ok_status();
}
