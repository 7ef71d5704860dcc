#ifndef IREE_HAL_BUFFER_VIEW_UTIL_H_
#define IREE_HAL_BUFFER_VIEW_UTIL_H_

#include "iree/base/api.h"
#include "iree/hal/allocator.h"
#include "iree/hal/buffer_view.h"
#include "iree/hal/device.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes that a dense array needs. Elements of less than a byte are packed.
IREE_API_EXPORT iree_status_t iree_hal_buffer_compute_view_size(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_device_size_t* out_allocation_size);

/// Byte offset of the element at `indices`, as many as dimensions; OUT_OF_RANGE beyond one. Whole-
/// byte elements only.
IREE_API_EXPORT iree_status_t iree_hal_buffer_compute_view_offset(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_host_size_t indices_count,
    const iree_hal_dim_t* indices, iree_device_size_t* out_offset);

/// Byte range of the block at `start_indices` of `lengths`; UNIMPLEMENTED when it is not
/// contiguous.
IREE_API_EXPORT iree_status_t iree_hal_buffer_compute_view_range(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_host_size_t indices_count,
    const iree_hal_dim_t* start_indices, iree_host_size_t lengths_count,
    const iree_hal_dim_t* lengths, iree_device_size_t* out_start_offset,
    iree_device_size_t* out_length);

/// Allocates a view and copies `initial_data` into it; without data it is zeroed. `device` may be
/// null where memory can be mapped.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_allocate_buffer_copy(
    iree_hal_device_t* device, iree_hal_allocator_t* allocator, iree_host_size_t shape_rank,
    const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_hal_buffer_params_t buffer_params,
    iree_const_byte_span_t initial_data, iree_hal_buffer_view_t** out_buffer_view);

/// Writes a view's contents into `mapping`.
typedef iree_status_t(IREE_API_PTR* iree_hal_buffer_view_generator_callback_t)(
    iree_hal_buffer_mapping_t* mapping, void* user_data);

/// Allocates a view whose contents `callback` writes, in place where that is possible and not
/// slow.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_generate_buffer(
    iree_hal_device_t* device, iree_hal_allocator_t* allocator, iree_host_size_t shape_rank,
    const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_hal_buffer_params_t buffer_params,
    iree_hal_buffer_view_generator_callback_t callback, void* user_data,
    iree_hal_buffer_view_t** out_buffer_view);

/// Makes a view from text such as `2x3xf32=[1 2 3][4 5 6]`: no elements mean zeros, one is
/// repeated, otherwise there is one for each.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_parse(iree_string_view_t value,
                                                         iree_hal_device_t* device,
                                                         iree_hal_allocator_t* device_allocator,
                                                         iree_hal_buffer_view_t** out_buffer_view);

/// Writes a view as text with at most `max_element_count` elements. Returns the length without
/// NUL, with OUT_OF_RANGE when `buffer` is null or too small.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_format(const iree_hal_buffer_view_t* buffer_view,
                                                          iree_host_size_t max_element_count,
                                                          iree_host_size_t buffer_capacity,
                                                          char* buffer,
                                                          iree_host_size_t* out_buffer_length);

/// Prints a view as text.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_fprint(FILE* file,
                                                          const iree_hal_buffer_view_t* buffer_view,
                                                          iree_host_size_t max_element_count,
                                                          iree_allocator_t host_allocator);

/// Appends a view as text.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_append_to_builder(
    iree_hal_buffer_view_t* buffer_view, iree_host_size_t max_element_count,
    iree_string_builder_t* builder);

#ifdef __cplusplus
}
#endif
#endif
