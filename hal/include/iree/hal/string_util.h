#ifndef IREE_HAL_STRING_UTIL_H_
#define IREE_HAL_STRING_UTIL_H_

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/buffer_view.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Reads `2x3`. The rank is always set; too little capacity is OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_parse_shape(iree_string_view_t value,
                                                   iree_host_size_t shape_capacity,
                                                   iree_host_size_t* out_shape_rank,
                                                   iree_hal_dim_t* out_shape);

/// Writes `2x3`. Lengths as iree_hal_buffer_view_format.
IREE_API_EXPORT iree_status_t iree_hal_format_shape(iree_host_size_t shape_rank,
                                                    const iree_hal_dim_t* shape,
                                                    iree_host_size_t buffer_capacity, char* buffer,
                                                    iree_host_size_t* out_buffer_length);

/// Appends `2x3`.
IREE_API_EXPORT iree_status_t iree_hal_append_shape_string(iree_host_size_t shape_rank,
                                                           const iree_hal_dim_t* shape,
                                                           iree_string_builder_t* string_builder);

/// Reads `i1`, `iN`, `siN`, `uiN`, `fN`, `bfN`, `cfN`, `*N`, `xN` or the name of an 8-bit float.
IREE_API_EXPORT iree_status_t
iree_hal_parse_element_type(iree_string_view_t value, iree_hal_element_type_t* out_element_type);

/// Writes the name of an element type. Lengths as iree_hal_buffer_view_format.
IREE_API_EXPORT iree_status_t iree_hal_format_element_type(iree_hal_element_type_t element_type,
                                                           iree_host_size_t buffer_capacity,
                                                           char* buffer,
                                                           iree_host_size_t* out_buffer_length);

/// Appends the name of an element type.
IREE_API_EXPORT iree_status_t iree_hal_append_element_type_string(
    iree_hal_element_type_t element_type, iree_string_builder_t* string_builder);

/// Reads `2x3xf32`; the last `x` stands before the type.
IREE_API_EXPORT iree_status_t iree_hal_parse_shape_and_element_type(
    iree_string_view_t value, iree_host_size_t shape_capacity, iree_host_size_t* out_shape_rank,
    iree_hal_dim_t* out_shape, iree_hal_element_type_t* out_element_type);

/// Appends `2x3xf32`.
IREE_API_EXPORT iree_status_t iree_hal_append_shape_and_element_type_string(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_string_builder_t* string_builder);

/// Reads one element into the first bytes of `data_ptr`. Types without a number format are
/// hexadecimal bytes in memory order.
IREE_API_EXPORT iree_status_t iree_hal_parse_element(iree_string_view_t data_str,
                                                     iree_hal_element_type_t element_type,
                                                     iree_byte_span_t data_ptr);

/// Writes the first element of `data`. Lengths as iree_hal_buffer_view_format.
IREE_API_EXPORT iree_status_t iree_hal_format_element(iree_const_byte_span_t data,
                                                      iree_hal_element_type_t element_type,
                                                      iree_host_size_t buffer_capacity,
                                                      char* buffer,
                                                      iree_host_size_t* out_buffer_length);

/// Reads elements separated by blanks, commas and brackets: none zero-fills, one is repeated,
/// otherwise the number must be right (OUT_OF_RANGE).
IREE_API_EXPORT iree_status_t iree_hal_parse_buffer_elements(iree_string_view_t data_str,
                                                             iree_hal_element_type_t element_type,
                                                             iree_byte_span_t data_ptr);

/// Writes elements with a pair of brackets per row, at most `max_element_count` of them.
IREE_API_EXPORT iree_status_t iree_hal_format_buffer_elements(
    iree_const_byte_span_t data, iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
    iree_hal_element_type_t element_type, iree_host_size_t max_element_count,
    iree_host_size_t buffer_capacity, char* buffer, iree_host_size_t* out_buffer_length);

#ifdef __cplusplus
}
#endif
#endif
