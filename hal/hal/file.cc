#include "iree/hal/file.h"

#include "hal/hal/object.h"
#include "iree/hal/device.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_file_vtable_t;

iree_status_t iree_hal_file_import(iree_hal_device_t* device,
                                   iree_hal_queue_affinity_t queue_affinity,
                                   iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                   iree_hal_external_file_flags_t flags,
                                   iree_hal_file_t** out_file) {
  *out_file = nullptr;
  return vtableOf<iree_hal_device_vtable_t>(device).import_file(device, queue_affinity, access,
                                                                handle, flags, out_file);
}

void iree_hal_file_retain(iree_hal_file_t* file) { iree_hal_resource_retain(file); }

void iree_hal_file_release(iree_hal_file_t* file) { iree_hal_resource_release(file); }

void iree_hal_file_destroy(iree_hal_file_t* file) {
  if (file)
    vtableOf<Vtable>(file).destroy(file);
}

iree_hal_memory_access_t iree_hal_file_allowed_access(iree_hal_file_t* file) {
  return vtableOf<Vtable>(file).allowed_access(file);
}

uint64_t iree_hal_file_length(iree_hal_file_t* file) { return vtableOf<Vtable>(file).length(file); }

iree_hal_buffer_t* iree_hal_file_storage_buffer(iree_hal_file_t* file) {
  return vtableOf<Vtable>(file).storage_buffer(file);
}

iree_async_file_t* iree_hal_file_async_handle(iree_hal_file_t* file) {
  return vtableOf<Vtable>(file).async_handle(file);
}

bool iree_hal_file_supports_synchronous_io(iree_hal_file_t* file) {
  return vtableOf<Vtable>(file).supports_synchronous_io(file);
}

iree_status_t iree_hal_file_validate_access(iree_hal_file_t* file,
                                            iree_hal_memory_access_t required_access) {
  const iree_hal_memory_access_t allowed = iree_hal_file_allowed_access(file);
  if (iree_all_bits_set(allowed, required_access))
    return iree_ok_status();
  iree_bitfield_string_temp_t allowedTemp, requiredTemp;
  iree_string_view_t allowedText = iree_hal_memory_access_format(allowed, &allowedTemp);
  iree_string_view_t requiredText = iree_hal_memory_access_format(required_access, &requiredTemp);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                          "file allows access %.*s but %.*s is needed", (int)allowedText.size,
                          allowedText.data, (int)requiredText.size, requiredText.data);
}

iree_status_t iree_hal_file_read(iree_hal_file_t* file, uint64_t file_offset,
                                 iree_hal_buffer_t* buffer, iree_device_size_t buffer_offset,
                                 iree_device_size_t length) {
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(file, IREE_HAL_MEMORY_ACCESS_READ));
  return vtableOf<Vtable>(file).read(file, file_offset, buffer, buffer_offset, length);
}

iree_status_t iree_hal_file_write(iree_hal_file_t* file, uint64_t file_offset,
                                  iree_hal_buffer_t* buffer, iree_device_size_t buffer_offset,
                                  iree_device_size_t length) {
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(file, IREE_HAL_MEMORY_ACCESS_WRITE));
  return vtableOf<Vtable>(file).write(file, file_offset, buffer, buffer_offset, length);
}
