// Sizes, offsets and ranges of dense row-major arrays in bytes.

#include <span>

#include "iree/hal/buffer_view_util.h"

namespace {

iree_status_t checkDense(iree_hal_element_type_t type, iree_hal_encoding_type_t encoding) {
  if (iree_hal_element_bit_count(type) == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "elements of type 0x%08x have no size",
                            type);
  }
  if (encoding != IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "encoding %u has no known layout", encoding);
  }
  return iree_ok_status();
}

iree_status_t overflow() {
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the shape's size in bytes overflows");
}

} // namespace

iree_status_t iree_hal_buffer_compute_view_size(iree_host_size_t shape_rank,
                                                const iree_hal_dim_t* shape,
                                                iree_hal_element_type_t element_type,
                                                iree_hal_encoding_type_t encoding_type,
                                                iree_device_size_t* out_allocation_size) {
  *out_allocation_size = 0;
  IREE_RETURN_IF_ERROR(checkDense(element_type, encoding_type));
  // Elements of less than a byte share bytes.
  iree_device_size_t bits = iree_hal_element_bit_count(element_type);
  for (iree_hal_dim_t dim : std::span(shape, shape_rank)) {
    if (dim == 0)
      return iree_ok_status();
  }
  for (iree_hal_dim_t dim : std::span(shape, shape_rank)) {
    if (!iree_device_size_checked_mul(bits, dim, &bits))
      return overflow();
  }
  *out_allocation_size = bits / 8 + (bits % 8 != 0);
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_compute_view_offset(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_host_size_t indices_count,
    const iree_hal_dim_t* indices, iree_device_size_t* out_offset) {
  *out_offset = 0;
  IREE_RETURN_IF_ERROR(checkDense(element_type, encoding_type));
  if (!iree_hal_element_is_byte_aligned(element_type)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "elements of %" PRIhsz " bits have no byte offset",
                            iree_hal_element_bit_count(element_type));
  }
  if (indices_count != shape_rank) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%" PRIhsz " indices into a shape of rank %" PRIhsz, indices_count,
                            shape_rank);
  }
  iree_device_size_t element = 0;
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    if (indices[i] >= shape[i]) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "index %" PRIdim " of dimension %" PRIhsz " is not below %" PRIdim,
                              indices[i], i, shape[i]);
    }
    if (!iree_device_size_checked_mul_add(indices[i], element, shape[i], &element)) {
      return overflow();
    }
  }
  if (!iree_device_size_checked_mul(element, iree_hal_element_dense_byte_count(element_type),
                                    out_offset)) {
    return overflow();
  }
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_compute_view_range(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_host_size_t indices_count,
    const iree_hal_dim_t* start_indices, iree_host_size_t lengths_count,
    const iree_hal_dim_t* lengths, iree_device_size_t* out_start_offset,
    iree_device_size_t* out_length) {
  *out_start_offset = 0;
  *out_length = 0;
  if (indices_count != shape_rank || lengths_count != shape_rank) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%" PRIhsz " indices and %" PRIhsz
                            " lengths for a shape of rank %" PRIhsz,
                            indices_count, lengths_count, shape_rank);
  }
  // The range is contiguous when, left of the first dimension that has more than one element in it,
  // nothing matters, and right of it every dimension is taken whole.
  bool insidePartial = false;
  iree_device_size_t elements = 1;
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    if (lengths[i] > shape[i] || start_indices[i] > shape[i] - lengths[i]) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "range %" PRIdim "+%" PRIdim " of dimension %" PRIhsz
                              " ends beyond %" PRIdim,
                              start_indices[i], lengths[i], i, shape[i]);
    }
    if (insidePartial && lengths[i] != shape[i]) {
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                              "the range is not contiguous: dimension %" PRIhsz " is cut", i);
    }
    insidePartial = insidePartial || lengths[i] > 1;
    if (!iree_device_size_checked_mul(elements, lengths[i], &elements))
      return overflow();
  }
  if (elements == 0)
    return checkDense(element_type, encoding_type);
  IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_offset(shape_rank, shape, element_type,
                                                           encoding_type, indices_count,
                                                           start_indices, out_start_offset));
  if (!iree_device_size_checked_mul(elements, iree_hal_element_dense_byte_count(element_type),
                                    out_length)) {
    return overflow();
  }
  return iree_ok_status();
}
