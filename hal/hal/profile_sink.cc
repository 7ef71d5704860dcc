#include "iree/hal/profile_sink.h"

#include "hal/hal/object.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_profile_sink_vtable_t;

void iree_hal_profile_sink_retain(iree_hal_profile_sink_t* sink) { iree_hal_resource_retain(sink); }

void iree_hal_profile_sink_release(iree_hal_profile_sink_t* sink) {
  iree_hal_resource_release(sink);
}

void iree_hal_profile_sink_destroy(iree_hal_profile_sink_t* sink) {
  if (sink)
    vtableOf<Vtable>(sink).destroy(sink);
}

iree_status_t
iree_hal_profile_sink_begin_session(iree_hal_profile_sink_t* sink,
                                    const iree_hal_profile_chunk_metadata_t* metadata) {
  return vtableOf<Vtable>(sink).begin_session(sink, metadata);
}

iree_status_t iree_hal_profile_sink_write(iree_hal_profile_sink_t* sink,
                                          const iree_hal_profile_chunk_metadata_t* metadata,
                                          iree_host_size_t iovec_count,
                                          const iree_const_byte_span_t* iovecs) {
  return vtableOf<Vtable>(sink).write(sink, metadata, iovec_count, iovecs);
}

iree_status_t iree_hal_profile_sink_end_session(iree_hal_profile_sink_t* sink,
                                                const iree_hal_profile_chunk_metadata_t* metadata,
                                                iree_status_code_t session_status_code) {
  return vtableOf<Vtable>(sink).end_session(sink, metadata, session_status_code);
}
