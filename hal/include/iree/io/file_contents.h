// Whole files in memory.

#ifndef IREE_IO_FILE_CONTENTS_H_
#define IREE_IO_FILE_CONTENTS_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

// What was read has a NUL behind its last byte, which does not count in the length; what was mapped
// has not.
typedef struct iree_io_file_contents_t {
  iree_allocator_t allocator;
  union {
    iree_byte_span_t buffer;
    iree_const_byte_span_t const_buffer;
  };
  // NULL when the contents were read.
  iree_io_file_mapping_t* mapping;
} iree_io_file_contents_t;

IREE_API_EXPORT void iree_io_file_contents_free(iree_io_file_contents_t* contents);
// An allocator whose free frees `contents`, for interfaces that take bytes and an allocator.
IREE_API_EXPORT iree_allocator_t
iree_io_file_contents_deallocator(iree_io_file_contents_t* contents);

IREE_API_EXPORT iree_status_t iree_io_file_contents_read_stdin(
    iree_allocator_t host_allocator, iree_io_file_contents_t** out_contents);
IREE_API_EXPORT iree_status_t iree_io_file_contents_read(iree_string_view_t path,
                                                         iree_allocator_t host_allocator,
                                                         iree_io_file_contents_t** out_contents);
IREE_API_EXPORT iree_status_t iree_io_file_contents_map(iree_string_view_t path,
                                                        iree_io_file_access_t access,
                                                        iree_allocator_t host_allocator,
                                                        iree_io_file_contents_t** out_contents);
// Replaces a file that is there.
IREE_API_EXPORT iree_status_t iree_io_file_contents_write(iree_string_view_t path,
                                                          iree_const_byte_span_t contents,
                                                          iree_allocator_t host_allocator);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_IO_FILE_CONTENTS_H_
