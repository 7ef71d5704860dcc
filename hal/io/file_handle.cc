#include "iree/io/file_handle.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iree/base/internal/atomics.h"
#include "iree/io/file_contents.h"

struct iree_io_file_handle_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_io_file_access_t access;
  iree_io_file_mode_t mode;
  iree_io_file_handle_primitive_t primitive;
  iree_io_file_handle_release_callback_t release_callback;
};

struct iree_io_file_mapping_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_io_file_handle_t* handle;
  iree_io_file_access_t access;
  iree_byte_span_t contents;
  // What was mapped: whole pages, of which the contents are a part. Empty for memory handles.
  iree_byte_span_t pages;
};

namespace {

iree_status_t ErrnoStatus(int error, const char* what, iree_string_view_t path) {
  return iree_make_status(iree_status_code_from_errno(error), "cannot %s '%.*s': %s", what,
                          static_cast<int>(path.size), path.data, std::strerror(error));
}

iree_io_file_access_t AccessOf(iree_io_file_mode_t mode) {
  return (mode & IREE_IO_FILE_MODE_READ ? IREE_IO_FILE_ACCESS_READ : 0) |
         (mode & IREE_IO_FILE_MODE_WRITE ? IREE_IO_FILE_ACCESS_WRITE : 0);
}

int OpenFlagsOf(iree_io_file_mode_t mode) {
  bool read = mode & IREE_IO_FILE_MODE_READ, write = mode & IREE_IO_FILE_MODE_WRITE;
  return O_CLOEXEC | (write ? (read ? O_RDWR : O_WRONLY) : O_RDONLY);
}

void CloseFd(void*, iree_io_file_handle_primitive_t primitive) { close(primitive.value.fd); }

// Takes the descriptor, whatever happens.
iree_status_t WrapFd(iree_io_file_mode_t mode, int fd, iree_allocator_t host_allocator,
                     iree_io_file_handle_t** out_handle) {
  iree_io_file_handle_primitive_t primitive = {.type = IREE_IO_FILE_HANDLE_TYPE_FD,
                                               .value = {.fd = fd}};
  iree_status_t status = iree_io_file_handle_wrap(AccessOf(mode), mode, primitive,
                                                  {CloseFd, nullptr}, host_allocator, out_handle);
  if (!iree_status_is_ok(status)) {
    close(fd);
    return status;
  }
#if defined(POSIX_FADV_RANDOM)
  if (mode & IREE_IO_FILE_MODE_RANDOM_ACCESS)
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  if (mode & IREE_IO_FILE_MODE_SEQUENTIAL_SCAN)
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  return status;
}

iree_status_t OpenPath(iree_io_file_mode_t mode, iree_string_view_t path, int extra_flags,
                       const char* what, int* out_fd) {
  *out_fd = -1;
  if (path.size > IREE_MAX_PATH) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "path of %" PRIhsz " bytes is too long",
                            path.size);
  }
  if (!(mode & (IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_WRITE))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "'%.*s' is to be opened neither for reading nor for writing",
                            static_cast<int>(path.size), path.data);
  }
  char text[IREE_MAX_PATH + 1];
  iree_string_view_to_cstring(path, text, sizeof(text));
  int fd = open(text, OpenFlagsOf(mode) | extra_flags, 0644);
  if (fd < 0)
    return ErrnoStatus(errno, what, path);
  // The name goes at once; the file goes with the last descriptor.
  if (mode & IREE_IO_FILE_MODE_TEMPORARY)
    unlink(text);
  *out_fd = fd;
  return iree_ok_status();
}

} // namespace

iree_status_t iree_io_file_handle_wrap(iree_io_file_access_t allowed_access,
                                       iree_io_file_mode_t mode,
                                       iree_io_file_handle_primitive_t handle_primitive,
                                       iree_io_file_handle_release_callback_t release_callback,
                                       iree_allocator_t host_allocator,
                                       iree_io_file_handle_t** out_handle) {
  *out_handle = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(iree_io_file_handle_t), &storage));
  auto* handle = static_cast<iree_io_file_handle_t*>(storage);
  iree_atomic_ref_count_init(&handle->ref_count);
  handle->host_allocator = host_allocator;
  handle->access = allowed_access;
  handle->mode = mode;
  handle->primitive = handle_primitive;
  handle->release_callback = release_callback;
  *out_handle = handle;
  return iree_ok_status();
}

iree_status_t iree_io_file_handle_wrap_host_allocation(
    iree_io_file_access_t allowed_access, iree_byte_span_t host_allocation,
    iree_io_file_handle_release_callback_t release_callback, iree_allocator_t host_allocator,
    iree_io_file_handle_t** out_handle) {
  iree_io_file_mode_t mode =
      (allowed_access & IREE_IO_FILE_ACCESS_READ ? IREE_IO_FILE_MODE_READ : 0) |
      (allowed_access & IREE_IO_FILE_ACCESS_WRITE ? IREE_IO_FILE_MODE_WRITE : 0) |
      IREE_IO_FILE_MODE_RANDOM_ACCESS;
  iree_io_file_handle_primitive_t primitive = {.type = IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION,
                                               .value = {.host_allocation = host_allocation}};
  return iree_io_file_handle_wrap(allowed_access, mode, primitive, release_callback, host_allocator,
                                  out_handle);
}

void iree_io_file_handle_retain(iree_io_file_handle_t* handle) {
  if (handle)
    iree_atomic_ref_count_inc(&handle->ref_count);
}

void iree_io_file_handle_release(iree_io_file_handle_t* handle) {
  if (!handle || iree_atomic_ref_count_dec(&handle->ref_count) != 1)
    return;
  if (handle->release_callback.fn) {
    handle->release_callback.fn(handle->release_callback.user_data, handle->primitive);
  }
  iree_allocator_free(handle->host_allocator, handle);
}

iree_io_file_access_t iree_io_file_handle_access(const iree_io_file_handle_t* handle) {
  return handle->access;
}

iree_io_file_handle_primitive_t iree_io_file_handle_primitive(const iree_io_file_handle_t* handle) {
  return handle->primitive;
}

iree_status_t iree_io_file_handle_flush(iree_io_file_handle_t* handle) {
  if (handle->primitive.type != IREE_IO_FILE_HANDLE_TYPE_FD)
    return iree_ok_status();
  if (fsync(handle->primitive.value.fd) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "cannot flush a file: %s",
                            std::strerror(errno));
  }
  return iree_ok_status();
}

bool iree_io_file_handle_uses_async_io(const iree_io_file_handle_t* handle) {
  return handle->primitive.type == IREE_IO_FILE_HANDLE_TYPE_FD &&
         (handle->mode & IREE_IO_FILE_MODE_ASYNC);
}

iree_status_t iree_io_file_handle_create(iree_io_file_mode_t mode, iree_string_view_t path,
                                         uint64_t initial_size, iree_allocator_t host_allocator,
                                         iree_io_file_handle_t** out_handle) {
  *out_handle = nullptr;
  int fd = -1;
  int flags = O_CREAT | (mode & IREE_IO_FILE_MODE_OVERWRITE ? O_TRUNC : O_EXCL);
  IREE_RETURN_IF_ERROR(OpenPath(mode | IREE_IO_FILE_MODE_WRITE, path, flags, "create", &fd));
  if (initial_size && ftruncate(fd, static_cast<off_t>(initial_size)) != 0) {
    int error = errno;
    close(fd);
    return ErrnoStatus(error, "extend", path);
  }
  return WrapFd(mode, fd, host_allocator, out_handle);
}

iree_status_t iree_io_file_handle_open(iree_io_file_mode_t mode, iree_string_view_t path,
                                       iree_allocator_t host_allocator,
                                       iree_io_file_handle_t** out_handle) {
  *out_handle = nullptr;
  int fd = -1;
  IREE_RETURN_IF_ERROR(OpenPath(mode, path, /*extra_flags=*/0, "open", &fd));
  return WrapFd(mode, fd, host_allocator, out_handle);
}

iree_status_t iree_io_file_handle_open_fd(iree_io_file_mode_t mode, int fd,
                                          iree_allocator_t host_allocator,
                                          iree_io_file_handle_t** out_handle) {
  *out_handle = nullptr;
  int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) {
    return iree_make_status(iree_status_code_from_errno(errno),
                            "cannot duplicate file descriptor %d: %s", fd, std::strerror(errno));
  }
  return WrapFd(mode, duplicate, host_allocator, out_handle);
}

iree_status_t iree_io_file_handle_preload(iree_io_file_mode_t mode, iree_string_view_t path,
                                          iree_allocator_t host_allocator,
                                          iree_io_file_handle_t** out_handle) {
  *out_handle = nullptr;
  iree_io_file_contents_t* contents = nullptr;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(path, host_allocator, &contents));
  iree_io_file_handle_release_callback_t free_contents = {
      +[](void* user_data, iree_io_file_handle_primitive_t) {
        iree_io_file_contents_free(static_cast<iree_io_file_contents_t*>(user_data));
      },
      contents};
  iree_status_t status = iree_io_file_handle_wrap_host_allocation(
      AccessOf(mode), contents->buffer, free_contents, host_allocator, out_handle);
  if (!iree_status_is_ok(status))
    iree_io_file_contents_free(contents);
  return status;
}

namespace {

iree_status_t MapFd(int fd, iree_io_file_access_t access, uint64_t offset, iree_host_size_t length,
                    iree_io_file_mapping_flags_t flags, iree_io_file_mapping_t* mapping) {
  if (length == 0)
    return iree_ok_status();
  uint64_t page_mask = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) - 1;
  uint64_t first_page = offset & ~page_mask;
  iree_host_size_t lead = offset - first_page;
  int protection = (access & IREE_IO_FILE_ACCESS_READ ? PROT_READ : 0) |
                   (access & IREE_IO_FILE_ACCESS_WRITE ? PROT_WRITE : 0);
  int sharing = flags & IREE_IO_FILE_MAPPING_FLAG_PRIVATE ? MAP_PRIVATE : MAP_SHARED;
  void* pages =
      mmap(nullptr, lead + length, protection, sharing, fd, static_cast<off_t>(first_page));
  if (pages == MAP_FAILED) {
    return iree_make_status(iree_status_code_from_errno(errno),
                            "cannot map %" PRIhsz " bytes of a file at %" PRIu64 ": %s", length,
                            offset, std::strerror(errno));
  }
  if (flags & IREE_IO_FILE_MAPPING_FLAG_SEQUENTIAL_ACCESS) {
    madvise(pages, lead + length, MADV_SEQUENTIAL);
  }
#if defined(MADV_DONTDUMP)
  if (flags & IREE_IO_FILE_MAPPING_FLAG_EXCLUDE_FROM_DUMPS) {
    madvise(pages, lead + length, MADV_DONTDUMP);
  }
#endif
  mapping->pages = iree_make_byte_span(pages, lead + length);
  mapping->contents = iree_make_byte_span(static_cast<uint8_t*>(pages) + lead, length);
  return iree_ok_status();
}

} // namespace

iree_status_t iree_io_file_map_view(iree_io_file_handle_t* handle, iree_io_file_access_t access,
                                    uint64_t offset, iree_host_size_t length,
                                    iree_io_file_mapping_flags_t flags,
                                    iree_allocator_t host_allocator,
                                    iree_io_file_mapping_t** out_mapping) {
  *out_mapping = nullptr;
  // What is written to a private mapping does not reach the file.
  iree_io_file_access_t needed = access;
  if (flags & IREE_IO_FILE_MAPPING_FLAG_PRIVATE) {
    needed &= ~static_cast<iree_io_file_access_t>(IREE_IO_FILE_ACCESS_WRITE);
  }
  if (!iree_all_bits_set(handle->access, needed)) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                            "the file was not opened for the access that the mapping needs");
  }
  bool is_memory = handle->primitive.type == IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION;
  uint64_t size = handle->primitive.value.host_allocation.data_length;
  if (!is_memory) {
    struct stat info = {};
    if (fstat(handle->primitive.value.fd, &info) != 0) {
      return iree_make_status(iree_status_code_from_errno(errno), "cannot query a file: %s",
                              std::strerror(errno));
    }
    size = static_cast<uint64_t>(info.st_size);
  }
  if (offset <= size && length == IREE_HOST_SIZE_MAX)
    length = size - offset;
  if (offset > size || length > size - offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "%" PRIhsz " bytes at %" PRIu64 " lie beyond the %" PRIu64
                            " of the file",
                            length, offset, size);
  }

  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(iree_io_file_mapping_t), &storage));
  auto* mapping = static_cast<iree_io_file_mapping_t*>(storage);
  iree_atomic_ref_count_init(&mapping->ref_count);
  mapping->host_allocator = host_allocator;
  mapping->access = access;
  if (is_memory) {
    mapping->contents =
        iree_make_byte_span(handle->primitive.value.host_allocation.data + offset, length);
  } else {
    iree_status_t status =
        MapFd(handle->primitive.value.fd, access, offset, length, flags, mapping);
    if (!iree_status_is_ok(status)) {
      iree_allocator_free(host_allocator, mapping);
      return status;
    }
  }
  mapping->handle = handle;
  iree_io_file_handle_retain(handle);
  *out_mapping = mapping;
  return iree_ok_status();
}

void iree_io_file_mapping_retain(iree_io_file_mapping_t* mapping) {
  if (mapping)
    iree_atomic_ref_count_inc(&mapping->ref_count);
}

void iree_io_file_mapping_release(iree_io_file_mapping_t* mapping) {
  if (!mapping || iree_atomic_ref_count_dec(&mapping->ref_count) != 1)
    return;
  if (mapping->pages.data)
    munmap(mapping->pages.data, mapping->pages.data_length);
  iree_io_file_handle_release(mapping->handle);
  iree_allocator_free(mapping->host_allocator, mapping);
}

iree_host_size_t iree_io_file_mapping_length(const iree_io_file_mapping_t* mapping) {
  return mapping->contents.data_length;
}

iree_const_byte_span_t iree_io_file_mapping_contents_ro(const iree_io_file_mapping_t* mapping) {
  return iree_const_cast_byte_span(mapping->contents);
}

iree_byte_span_t iree_io_file_mapping_contents_rw(iree_io_file_mapping_t* mapping) {
  return mapping->access & IREE_IO_FILE_ACCESS_WRITE ? mapping->contents : iree_byte_span_empty();
}
