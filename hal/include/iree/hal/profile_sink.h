#ifndef IREE_HAL_PROFILE_SINK_H_
#define IREE_HAL_PROFILE_SINK_H_

#include "iree/base/api.h"
#include "iree/hal/resource.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where records go.
typedef struct iree_hal_profile_sink_t iree_hal_profile_sink_t;
typedef uint64_t iree_hal_profile_chunk_flags_t;
enum iree_hal_profile_chunk_flag_bits_t {
  IREE_HAL_PROFILE_CHUNK_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_CHUNK_FLAG_TRUNCATED = 1ull << 0,
};

/// What a chunk of records is about.
typedef struct iree_hal_profile_chunk_metadata_t {
  iree_string_view_t content_type;
  iree_string_view_t name;
  uint64_t session_id;
  uint64_t stream_id;
  uint64_t event_id;
  uint64_t executable_id;
  uint64_t command_buffer_id;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  iree_hal_profile_chunk_flags_t flags;
  uint64_t dropped_record_count;
} iree_hal_profile_chunk_metadata_t;

static inline iree_hal_profile_chunk_metadata_t iree_hal_profile_chunk_metadata_default(void) {
  iree_hal_profile_chunk_metadata_t metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.physical_device_ordinal = UINT32_MAX;
  metadata.queue_ordinal = UINT32_MAX;
  return metadata;
}

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_profile_sink_retain(iree_hal_profile_sink_t* sink);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_profile_sink_release(iree_hal_profile_sink_t* sink);

/// Opens a session.
IREE_API_EXPORT iree_status_t iree_hal_profile_sink_begin_session(
    iree_hal_profile_sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata);

/// Takes a chunk of records; the data lives for the call only.
IREE_API_EXPORT iree_status_t iree_hal_profile_sink_write(
    iree_hal_profile_sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata,
    iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs);

/// Closes a session.
IREE_API_EXPORT iree_status_t iree_hal_profile_sink_end_session(
    iree_hal_profile_sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata,
    iree_status_code_t session_status_code);

typedef struct iree_hal_profile_sink_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_profile_sink_t* sink);
  iree_status_t(IREE_API_PTR* begin_session)(iree_hal_profile_sink_t* sink,
                                             const iree_hal_profile_chunk_metadata_t* metadata);
  iree_status_t(IREE_API_PTR* write)(iree_hal_profile_sink_t* sink,
                                     const iree_hal_profile_chunk_metadata_t* metadata,
                                     iree_host_size_t iovec_count,
                                     const iree_const_byte_span_t* iovecs);
  iree_status_t(IREE_API_PTR* end_session)(iree_hal_profile_sink_t* sink,
                                           const iree_hal_profile_chunk_metadata_t* metadata,
                                           iree_status_code_t session_status_code);
} iree_hal_profile_sink_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_profile_sink_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_profile_sink_destroy(iree_hal_profile_sink_t* sink);

#ifdef __cplusplus
}
#endif
#endif
