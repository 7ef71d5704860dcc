#include "iree/io/file_contents.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct HandleDeleter {
  void operator()(iree_io_file_handle_t* handle) const { iree_io_file_handle_release(handle); }
};
using HandlePtr = std::unique_ptr<iree_io_file_handle_t, HandleDeleter>;

iree_status_t Open(iree_io_file_mode_t mode, iree_string_view_t path, HandlePtr* out_handle) {
  iree_io_file_handle_t* handle = nullptr;
  IREE_RETURN_IF_ERROR(iree_io_file_handle_open(mode, path, iree_allocator_system(), &handle));
  out_handle->reset(handle);
  return iree_ok_status();
}

iree_status_t ReadFailed(int error) {
  return iree_make_status(iree_status_code_from_errno(error), "cannot read: %s",
                          std::strerror(error));
}

// Reads to the end into a buffer that grows from `size_hint`: sizes of pipes and of files that
// change are not known before.
iree_status_t ReadAll(int fd, iree_host_size_t size_hint, iree_allocator_t host_allocator,
                      iree_io_file_contents_t** out_contents) {
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(iree_io_file_contents_t), &storage));
  auto* contents = static_cast<iree_io_file_contents_t*>(storage);
  contents->allocator = host_allocator;
  iree_host_size_t capacity = 0, length = 0;
  void* buffer = nullptr;
  // Room for a NUL, and for the read that finds the end.
  iree_status_t status =
      iree_allocator_grow_array(host_allocator, size_hint + 2, 1, &capacity, &buffer);
  while (iree_status_is_ok(status)) {
    if (length + 1 == capacity) {
      status = iree_allocator_grow_array(host_allocator, capacity + 1, 1, &capacity, &buffer);
      continue;
    }
    ssize_t count = read(fd, static_cast<char*>(buffer) + length, capacity - length - 1);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      status = ReadFailed(errno);
    if (count <= 0)
      break;
    length += static_cast<iree_host_size_t>(count);
  }
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, buffer);
    iree_allocator_free(host_allocator, contents);
    return status;
  }
  static_cast<char*>(buffer)[length] = 0;
  contents->buffer = iree_make_byte_span(buffer, length);
  *out_contents = contents;
  return iree_ok_status();
}

int FdOf(const HandlePtr& handle) { return iree_io_file_handle_value(handle.get()).fd; }

} // namespace

void iree_io_file_contents_free(iree_io_file_contents_t* contents) {
  if (!contents)
    return;
  iree_allocator_t allocator = contents->allocator;
  if (contents->mapping) {
    iree_io_file_mapping_release(contents->mapping);
  } else {
    iree_allocator_free(allocator, contents->buffer.data);
  }
  iree_allocator_free(allocator, contents);
}

iree_allocator_t iree_io_file_contents_deallocator(iree_io_file_contents_t* contents) {
  return {contents,
          +[](void* self, iree_allocator_command_t command, const void*, void**) -> iree_status_t {
            if (command != IREE_ALLOCATOR_COMMAND_FREE) {
              return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "can only free a file");
            }
            iree_io_file_contents_free(static_cast<iree_io_file_contents_t*>(self));
            return iree_ok_status();
          }};
}

iree_status_t iree_io_file_contents_read_stdin(iree_allocator_t host_allocator,
                                               iree_io_file_contents_t** out_contents) {
  *out_contents = nullptr;
  return ReadAll(STDIN_FILENO, 64 * 1024, host_allocator, out_contents);
}

iree_status_t iree_io_file_contents_read(iree_string_view_t path, iree_allocator_t host_allocator,
                                         iree_io_file_contents_t** out_contents) {
  *out_contents = nullptr;
  HandlePtr handle;
  IREE_RETURN_IF_ERROR(
      Open(IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_SEQUENTIAL_SCAN, path, &handle));
  struct stat info = {};
  iree_host_size_t size_hint = 0;
  if (fstat(FdOf(handle), &info) == 0 && S_ISREG(info.st_mode)) {
    size_hint = static_cast<iree_host_size_t>(info.st_size);
  }
  IREE_RETURN_IF_ERROR(ReadAll(FdOf(handle), size_hint, host_allocator, out_contents), "'%.*s'",
                       static_cast<int>(path.size), path.data);
  return iree_ok_status();
}

iree_status_t iree_io_file_contents_map(iree_string_view_t path, iree_io_file_access_t access,
                                        iree_allocator_t host_allocator,
                                        iree_io_file_contents_t** out_contents) {
  *out_contents = nullptr;
  iree_io_file_mode_t mode = access & IREE_IO_FILE_ACCESS_WRITE
                                 ? IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_WRITE
                                 : IREE_IO_FILE_MODE_READ;
  HandlePtr handle;
  IREE_RETURN_IF_ERROR(Open(mode, path, &handle));
  iree_io_file_mapping_t* mapping = nullptr;
  IREE_RETURN_IF_ERROR(iree_io_file_map_view(handle.get(), access, 0, IREE_HOST_SIZE_MAX,
                                             IREE_IO_FILE_MAPPING_FLAG_NONE, host_allocator,
                                             &mapping),
                       "'%.*s'", static_cast<int>(path.size), path.data);
  void* storage = nullptr;
  iree_status_t status =
      iree_allocator_malloc(host_allocator, sizeof(iree_io_file_contents_t), &storage);
  if (!iree_status_is_ok(status)) {
    iree_io_file_mapping_release(mapping);
    return status;
  }
  auto* contents = static_cast<iree_io_file_contents_t*>(storage);
  contents->allocator = host_allocator;
  contents->const_buffer = iree_io_file_mapping_contents_ro(mapping);
  contents->mapping = mapping;
  *out_contents = contents;
  return iree_ok_status();
}

iree_status_t iree_io_file_contents_write(iree_string_view_t path, iree_const_byte_span_t contents,
                                          iree_allocator_t host_allocator) {
  iree_io_file_handle_t* raw_handle = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_io_file_handle_create(IREE_IO_FILE_MODE_WRITE | IREE_IO_FILE_MODE_OVERWRITE, path,
                                 /*initial_size=*/0, host_allocator, &raw_handle));
  HandlePtr handle(raw_handle);
  iree_host_size_t written = 0;
  while (written < contents.data_length) {
    ssize_t count = write(FdOf(handle), contents.data + written, contents.data_length - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      return iree_make_status(iree_status_code_from_errno(errno), "cannot write '%.*s': %s",
                              static_cast<int>(path.size), path.data, std::strerror(errno));
    }
    written += static_cast<iree_host_size_t>(count);
  }
  return iree_ok_status();
}
