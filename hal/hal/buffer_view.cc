#include "iree/hal/buffer_view.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "hal/hal/object.h"
#include "iree/hal/buffer_view_util.h"

struct iree_hal_buffer_view_t {
  iree_atomic_ref_count_t refCount;
  iree_allocator_t hostAllocator;
  iree_hal_buffer_t* buffer;
  iree_hal_element_type_t elementType;
  iree_hal_encoding_type_t encodingType;
  iree_host_size_t rank;
  /// Dimensions that `shape()` has room for.
  iree_host_size_t rankCapacity;

  iree_hal_dim_t* shape() { return reinterpret_cast<iree_hal_dim_t*>(this + 1); }
  const iree_hal_dim_t* shape() const { return reinterpret_cast<const iree_hal_dim_t*>(this + 1); }
};

namespace {

constexpr iree_host_size_t kMaxRank = 128;

iree_host_size_t elementCount(std::span<const iree_hal_dim_t> shape) {
  iree_host_size_t count = 1;
  for (iree_hal_dim_t dim : shape)
    count *= static_cast<iree_host_size_t>(dim);
  return count;
}

} // namespace

iree_status_t iree_hal_buffer_view_create(iree_hal_buffer_t* buffer, iree_host_size_t shape_rank,
                                          const iree_hal_dim_t* shape,
                                          iree_hal_element_type_t element_type,
                                          iree_hal_encoding_type_t encoding_type,
                                          iree_allocator_t host_allocator,
                                          iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = nullptr;
  if (shape_rank > kMaxRank) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "shapes have at most %" PRIhsz " dimensions, not %" PRIhsz, kMaxRank,
                            shape_rank);
  }
  iree_hal_buffer_view_t* view = nullptr;
  IREE_RETURN_IF_ERROR(
      bessemer::hal::allocateObject(host_allocator, shape_rank * sizeof(iree_hal_dim_t), &view));
  iree_atomic_ref_count_init(&view->refCount);
  view->hostAllocator = host_allocator;
  view->buffer = buffer;
  iree_hal_buffer_retain(buffer);
  view->elementType = element_type;
  view->encodingType = encoding_type;
  view->rank = shape_rank;
  view->rankCapacity = shape_rank;
  std::copy_n(shape, shape_rank, view->shape());
  *out_buffer_view = view;
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_view_create_like(iree_hal_buffer_t* buffer,
                                               iree_hal_buffer_view_t* like_view,
                                               iree_allocator_t host_allocator,
                                               iree_hal_buffer_view_t** out_buffer_view) {
  return iree_hal_buffer_view_create(buffer, like_view->rank, like_view->shape(),
                                     like_view->elementType, like_view->encodingType,
                                     host_allocator, out_buffer_view);
}

void iree_hal_buffer_view_retain(iree_hal_buffer_view_t* buffer_view) {
  if (buffer_view)
    iree_atomic_ref_count_inc(&buffer_view->refCount);
}

void iree_hal_buffer_view_release(iree_hal_buffer_view_t* buffer_view) {
  if (buffer_view && iree_atomic_ref_count_dec(&buffer_view->refCount) == 1) {
    iree_hal_buffer_view_destroy(buffer_view);
  }
}

void iree_hal_buffer_view_destroy(iree_hal_buffer_view_t* buffer_view) {
  if (!buffer_view)
    return;
  iree_hal_buffer_release(buffer_view->buffer);
  iree_allocator_free(buffer_view->hostAllocator, buffer_view);
}

iree_hal_buffer_t* iree_hal_buffer_view_buffer(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->buffer;
}

iree_host_size_t iree_hal_buffer_view_shape_rank(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->rank;
}

const iree_hal_dim_t* iree_hal_buffer_view_shape_dims(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->shape();
}

iree_hal_dim_t iree_hal_buffer_view_shape_dim(const iree_hal_buffer_view_t* buffer_view,
                                              iree_host_size_t index) {
  return index < buffer_view->rank ? buffer_view->shape()[index] : 0;
}

iree_status_t iree_hal_buffer_view_shape(const iree_hal_buffer_view_t* buffer_view,
                                         iree_host_size_t rank_capacity, iree_hal_dim_t* out_shape,
                                         iree_host_size_t* out_shape_rank) {
  if (out_shape_rank)
    *out_shape_rank = buffer_view->rank;
  if (rank_capacity < buffer_view->rank)
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  std::copy_n(buffer_view->shape(), buffer_view->rank, out_shape);
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_view_reshape(iree_hal_buffer_view_t* buffer_view,
                                           const iree_hal_dim_t* shape,
                                           iree_host_size_t shape_rank) {
  const std::span<const iree_hal_dim_t> newShape(shape, shape_rank);
  if (shape_rank > buffer_view->rankCapacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "a view of rank %" PRIhsz " has no room for rank %" PRIhsz,
                            buffer_view->rankCapacity, shape_rank);
  }
  if (elementCount(newShape) != iree_hal_buffer_view_element_count(buffer_view)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a view of %" PRIhsz " elements cannot have a shape of %" PRIhsz,
                            iree_hal_buffer_view_element_count(buffer_view),
                            elementCount(newShape));
  }
  std::ranges::copy(newShape, buffer_view->shape());
  buffer_view->rank = shape_rank;
  return iree_ok_status();
}

iree_host_size_t iree_hal_buffer_view_element_count(const iree_hal_buffer_view_t* buffer_view) {
  return elementCount({buffer_view->shape(), buffer_view->rank});
}

iree_hal_element_type_t
iree_hal_buffer_view_element_type(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->elementType;
}

iree_host_size_t iree_hal_buffer_view_element_size(const iree_hal_buffer_view_t* buffer_view) {
  return iree_hal_element_dense_byte_count(buffer_view->elementType);
}

iree_hal_encoding_type_t
iree_hal_buffer_view_encoding_type(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->encodingType;
}

iree_device_size_t iree_hal_buffer_view_byte_length(const iree_hal_buffer_view_t* buffer_view) {
  return iree_hal_buffer_byte_length(buffer_view->buffer);
}

iree_status_t iree_hal_buffer_view_compute_offset(const iree_hal_buffer_view_t* buffer_view,
                                                  iree_host_size_t indices_count,
                                                  const iree_hal_dim_t* indices,
                                                  iree_device_size_t* out_offset) {
  return iree_hal_buffer_compute_view_offset(buffer_view->rank, buffer_view->shape(),
                                             buffer_view->elementType, buffer_view->encodingType,
                                             indices_count, indices, out_offset);
}

iree_status_t iree_hal_buffer_view_compute_range(const iree_hal_buffer_view_t* buffer_view,
                                                 iree_host_size_t indices_count,
                                                 const iree_hal_dim_t* start_indices,
                                                 iree_host_size_t lengths_count,
                                                 const iree_hal_dim_t* lengths,
                                                 iree_device_size_t* out_start_offset,
                                                 iree_device_size_t* out_length) {
  return iree_hal_buffer_compute_view_range(
      buffer_view->rank, buffer_view->shape(), buffer_view->elementType, buffer_view->encodingType,
      indices_count, start_indices, lengths_count, lengths, out_start_offset, out_length);
}
