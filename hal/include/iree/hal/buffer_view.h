#ifndef IREE_HAL_BUFFER_VIEW_H_
#define IREE_HAL_BUFFER_VIEW_H_

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/resource.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the bits of an element are to be read.
enum iree_hal_numerical_type_bits_t {
  IREE_HAL_NUMERICAL_TYPE_UNKNOWN = 0x00u,
  IREE_HAL_NUMERICAL_TYPE_INTEGER = 0x10u,
  IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED = IREE_HAL_NUMERICAL_TYPE_INTEGER | 0x01u,
  IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED = IREE_HAL_NUMERICAL_TYPE_INTEGER | 0x02u,
  IREE_HAL_NUMERICAL_TYPE_BOOLEAN = IREE_HAL_NUMERICAL_TYPE_INTEGER | 0x03u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT = 0x20,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x01u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_BRAIN = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x02u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x03u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E5M2 = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x04u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3FN = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x05u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E5M2_FNUZ = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x06u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3_FNUZ = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x07u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E8M0_FNU = IREE_HAL_NUMERICAL_TYPE_FLOAT | 0x08u,
};
typedef uint8_t iree_hal_numerical_type_t;

/// An element type as a constant: numerical type in the top byte, bits of an element in the
/// lowest.
#define IREE_HAL_ELEMENT_TYPE_VALUE(numerical_type, bit_count)                                     \
  (((uint32_t)(numerical_type) << 24) | (uint32_t)(bit_count))

#define iree_hal_make_element_type(numerical_type, bit_count)                                      \
  (iree_hal_element_type_t)(IREE_HAL_ELEMENT_TYPE_VALUE(numerical_type, bit_count))

#define iree_hal_element_numerical_type(element_type)                                              \
  (iree_hal_numerical_type_t)((uint32_t)(element_type) >> 24)

#define iree_hal_element_numerical_type_is_opaque(element_type)                                    \
  (iree_hal_element_numerical_type(element_type) == IREE_HAL_NUMERICAL_TYPE_UNKNOWN)

#define iree_hal_element_numerical_type_is_boolean(element_type)                                   \
  iree_all_bits_set(iree_hal_element_numerical_type(element_type), IREE_HAL_NUMERICAL_TYPE_BOOLEAN)

#define iree_hal_element_numerical_type_is_integer(element_type)                                   \
  iree_all_bits_set(iree_hal_element_numerical_type(element_type), IREE_HAL_NUMERICAL_TYPE_INTEGER)

#define iree_hal_element_numerical_type_is_float(element_type)                                     \
  iree_all_bits_set(iree_hal_element_numerical_type(element_type), IREE_HAL_NUMERICAL_TYPE_FLOAT)

#define iree_hal_element_numerical_type_is_complex_float(element_type)                             \
  iree_all_bits_set(iree_hal_element_numerical_type(element_type),                                 \
                    IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX)

#define iree_hal_element_bit_count(element_type) (iree_host_size_t)((element_type) & 0xFF)

#define iree_hal_element_is_byte_aligned(element_type)                                             \
  (iree_hal_element_bit_count(element_type) % 8 == 0)

#define iree_hal_element_dense_byte_count(element_type)                                            \
  ((iree_hal_element_bit_count(element_type) + 8 - 1) / 8)

#define iree_hal_element_packed_byte_count(element_type, element_count)                            \
  (((element_count) * iree_hal_element_bit_count(element_type) + 7) / 8)

#define iree_hal_element_type_is_integer(element_type, bit_width)                                  \
  (iree_hal_element_numerical_type_is_integer(element_type) &&                                     \
   iree_hal_element_bit_count(element_type) == (bit_width))

enum iree_hal_element_types_t {
  IREE_HAL_ELEMENT_TYPE_NONE = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_UNKNOWN, 0),
  IREE_HAL_ELEMENT_TYPE_OPAQUE_8 = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_UNKNOWN, 8),
  IREE_HAL_ELEMENT_TYPE_OPAQUE_16 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_UNKNOWN, 16),
  IREE_HAL_ELEMENT_TYPE_OPAQUE_32 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_UNKNOWN, 32),
  IREE_HAL_ELEMENT_TYPE_OPAQUE_64 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_UNKNOWN, 64),
  IREE_HAL_ELEMENT_TYPE_BOOL_8 = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_BOOLEAN, 8),
  IREE_HAL_ELEMENT_TYPE_INT_4 = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER, 4),
  IREE_HAL_ELEMENT_TYPE_SINT_4 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED, 4),
  IREE_HAL_ELEMENT_TYPE_UINT_4 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED, 4),
  IREE_HAL_ELEMENT_TYPE_INT_8 = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER, 8),
  IREE_HAL_ELEMENT_TYPE_SINT_8 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED, 8),
  IREE_HAL_ELEMENT_TYPE_UINT_8 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED, 8),
  IREE_HAL_ELEMENT_TYPE_INT_16 = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER, 16),
  IREE_HAL_ELEMENT_TYPE_SINT_16 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED, 16),
  IREE_HAL_ELEMENT_TYPE_UINT_16 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED, 16),
  IREE_HAL_ELEMENT_TYPE_INT_32 = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER, 32),
  IREE_HAL_ELEMENT_TYPE_SINT_32 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED, 32),
  IREE_HAL_ELEMENT_TYPE_UINT_32 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED, 32),
  IREE_HAL_ELEMENT_TYPE_INT_64 = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER, 64),
  IREE_HAL_ELEMENT_TYPE_SINT_64 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED, 64),
  IREE_HAL_ELEMENT_TYPE_UINT_64 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED, 64),
  IREE_HAL_ELEMENT_TYPE_FLOAT_16 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE, 16),
  IREE_HAL_ELEMENT_TYPE_FLOAT_32 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE, 32),
  IREE_HAL_ELEMENT_TYPE_FLOAT_64 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE, 64),
  IREE_HAL_ELEMENT_TYPE_BFLOAT_16 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_BRAIN, 16),
  IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_64 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX, 64),
  IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_128 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX, 128),
  IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2 =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E5M2, 8),
  IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FN =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3FN, 8),
  IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2_FNUZ =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E5M2_FNUZ, 8),
  IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FNUZ =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3_FNUZ, 8),
  IREE_HAL_ELEMENT_TYPE_FLOAT_8_E8M0_FNU =
      IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E8M0_FNU, 8),
};
typedef uint32_t iree_hal_element_type_t;

/// How elements lie in memory.
enum iree_hal_encoding_types_t {
  IREE_HAL_ENCODING_TYPE_OPAQUE = 0,
  IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR = 1,
};
typedef uint32_t iree_hal_encoding_type_t;

/// A dimension of a shape.
typedef iree_device_size_t iree_hal_dim_t;

#define PRIdim PRIdsz

/// A buffer with a shape, an element type and an encoding.
typedef struct iree_hal_buffer_view_t iree_hal_buffer_view_t;

/// Makes a view, which retains the buffer. More than 128 dimensions are RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_create(
    iree_hal_buffer_t* buffer, iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
    iree_hal_element_type_t element_type, iree_hal_encoding_type_t encoding_type,
    iree_allocator_t host_allocator, iree_hal_buffer_view_t** out_buffer_view);

/// Makes a view of another buffer with the shape and types of `like_view`.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_create_like(
    iree_hal_buffer_t* buffer, iree_hal_buffer_view_t* like_view, iree_allocator_t host_allocator,
    iree_hal_buffer_view_t** out_buffer_view);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_buffer_view_retain(iree_hal_buffer_view_t* buffer_view);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_buffer_view_release(iree_hal_buffer_view_t* buffer_view);

/// The buffer, not retained.
IREE_API_EXPORT iree_hal_buffer_t*
iree_hal_buffer_view_buffer(const iree_hal_buffer_view_t* buffer_view);

/// Number of dimensions.
IREE_API_EXPORT iree_host_size_t
iree_hal_buffer_view_shape_rank(const iree_hal_buffer_view_t* buffer_view);

/// The dimensions, as long as the view lives.
IREE_API_EXPORT const iree_hal_dim_t*
iree_hal_buffer_view_shape_dims(const iree_hal_buffer_view_t* buffer_view);

/// One dimension; 0 beyond the rank.
IREE_API_EXPORT iree_hal_dim_t
iree_hal_buffer_view_shape_dim(const iree_hal_buffer_view_t* buffer_view, iree_host_size_t index);

/// Copies the dimensions; OUT_OF_RANGE, with the rank set, when there is too little room.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_shape(const iree_hal_buffer_view_t* buffer_view,
                                                         iree_host_size_t rank_capacity,
                                                         iree_hal_dim_t* out_shape,
                                                         iree_host_size_t* out_shape_rank);

/// Changes the shape to one with as many elements and no more dimensions.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_reshape(iree_hal_buffer_view_t* buffer_view,
                                                           const iree_hal_dim_t* shape,
                                                           iree_host_size_t shape_rank);

/// Product of the dimensions.
IREE_API_EXPORT iree_host_size_t
iree_hal_buffer_view_element_count(const iree_hal_buffer_view_t* buffer_view);

IREE_API_EXPORT iree_hal_element_type_t
iree_hal_buffer_view_element_type(const iree_hal_buffer_view_t* buffer_view);

/// Bytes of an element that is not packed.
IREE_API_EXPORT iree_host_size_t
iree_hal_buffer_view_element_size(const iree_hal_buffer_view_t* buffer_view);

IREE_API_EXPORT iree_hal_encoding_type_t
iree_hal_buffer_view_encoding_type(const iree_hal_buffer_view_t* buffer_view);

/// Bytes of the buffer.
IREE_API_EXPORT iree_device_size_t
iree_hal_buffer_view_byte_length(const iree_hal_buffer_view_t* buffer_view);

/// Byte offset of an element; see iree_hal_buffer_compute_view_offset.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_compute_offset(
    const iree_hal_buffer_view_t* buffer_view, iree_host_size_t indices_count,
    const iree_hal_dim_t* indices, iree_device_size_t* out_offset);

/// Byte range of a block; see iree_hal_buffer_compute_view_range.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_compute_range(
    const iree_hal_buffer_view_t* buffer_view, iree_host_size_t indices_count,
    const iree_hal_dim_t* start_indices, iree_host_size_t lengths_count,
    const iree_hal_dim_t* lengths, iree_device_size_t* out_start_offset,
    iree_device_size_t* out_length);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_buffer_view_destroy(iree_hal_buffer_view_t* buffer_view);

#ifdef __cplusplus
}
#endif
#endif
