#ifndef IREE_HAL_UTILS_EXECUTABLE_HEADER_H_
#define IREE_HAL_UTILS_EXECUTABLE_HEADER_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Checks the 64 bytes before an executable's tables and returns what follows. With
/// `unsafe_infer_size` and no length the header's own is trusted.
iree_status_t
iree_hal_read_executable_flatbuffer_header(iree_const_byte_span_t executable_data,
                                           bool unsafe_infer_size, const char file_identifier[4],
                                           iree_const_byte_span_t* out_flatbuffer_data);

#ifdef __cplusplus
}
#endif
#endif
