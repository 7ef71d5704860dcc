#ifndef IREE_HAL_BUFFER_H_
#define IREE_HAL_BUFFER_H_

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_allocator_t iree_hal_allocator_t;
typedef struct iree_hal_device_t iree_hal_device_t;

/// As a length: all that follows the offset.
#define IREE_HAL_WHOLE_BUFFER ((iree_device_size_t)(-1))

/// Where memory lies and who can see it.
enum iree_hal_memory_type_bits_t {
  IREE_HAL_MEMORY_TYPE_NONE = 0u,
  IREE_HAL_MEMORY_TYPE_OPTIMAL = 1u << 0,
  IREE_HAL_MEMORY_TYPE_HOST_VISIBLE = 1u << 1,
  IREE_HAL_MEMORY_TYPE_HOST_COHERENT = 1u << 2,
  IREE_HAL_MEMORY_TYPE_HOST_CACHED = 1u << 3,
  IREE_HAL_MEMORY_TYPE_HOST_LOCAL =
      IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_HOST_COHERENT | (1u << 6),
  IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_HOST =
      IREE_HAL_MEMORY_TYPE_OPTIMAL | IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
  IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE = 1u << 4,
  IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL = IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE | (1u << 5),
  IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_DEVICE =
      IREE_HAL_MEMORY_TYPE_OPTIMAL | IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
};
typedef uint32_t iree_hal_memory_type_t;

/// Reads bits from names joined by `|`; unknown names are INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_hal_memory_type_parse(iree_string_view_t value,
                                                         iree_hal_memory_type_t* out_value);

/// Writes bits as names joined by `|` into `out_temp`; unknown bits come last in hexadecimal.
IREE_API_EXPORT iree_string_view_t
iree_hal_memory_type_format(iree_hal_memory_type_t value, iree_bitfield_string_temp_t* out_temp);

/// What may be done with memory.
enum iree_hal_memory_access_bits_t {
  IREE_HAL_MEMORY_ACCESS_NONE = 0u,
  IREE_HAL_MEMORY_ACCESS_READ = 1u << 0,
  IREE_HAL_MEMORY_ACCESS_WRITE = 1u << 1,
  IREE_HAL_MEMORY_ACCESS_DISCARD = 1u << 2,
  IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE =
      IREE_HAL_MEMORY_ACCESS_WRITE | IREE_HAL_MEMORY_ACCESS_DISCARD,
  IREE_HAL_MEMORY_ACCESS_MAY_ALIAS = 1u << 3,
  IREE_HAL_MEMORY_ACCESS_UNALIGNED = 1u << 4,
  IREE_HAL_MEMORY_ACCESS_ANY = 1u << 5,
  IREE_HAL_MEMORY_ACCESS_ALL =
      IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE | IREE_HAL_MEMORY_ACCESS_DISCARD,
};
typedef uint16_t iree_hal_memory_access_t;

/// As iree_hal_memory_type_parse.
IREE_API_EXPORT iree_status_t iree_hal_memory_access_parse(iree_string_view_t value,
                                                           iree_hal_memory_access_t* out_value);

/// As iree_hal_memory_type_format.
IREE_API_EXPORT iree_string_view_t iree_hal_memory_access_format(
    iree_hal_memory_access_t value, iree_bitfield_string_temp_t* out_temp);

/// What a buffer may be used for. Bits not asked for at allocation may not be used later.
enum iree_hal_buffer_usage_bits_t {
  IREE_HAL_BUFFER_USAGE_NONE = 0u,
  IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE = 1u << 0,
  IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET = 1u << 1,
  IREE_HAL_BUFFER_USAGE_TRANSFER =
      IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE | IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET,
  IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS = 1u << 8,
  IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ = 1u << 9,
  IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ = 1u << 10,
  IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_WRITE = 1u << 11,
  IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE =
      IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_WRITE,
  IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_READ = 1u << 12,
  IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_WRITE = 1u << 13,
  IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE =
      IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_READ | IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_WRITE,
  IREE_HAL_BUFFER_USAGE_DISPATCH = IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS |
                                   IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ |
                                   IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE |
                                   IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE,
  IREE_HAL_BUFFER_USAGE_SHARING_EXPORT = 1u << 16,
  IREE_HAL_BUFFER_USAGE_SHARING_REPLICATE = 1u << 17,
  IREE_HAL_BUFFER_USAGE_SHARING_CONCURRENT = 1u << 18,
  IREE_HAL_BUFFER_USAGE_SHARING_IMMUTABLE = 1u << 19,
  IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED = 1u << 24,
  IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT = 1u << 25,
  IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL = 1u << 26,
  IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM = 1u << 27,
  IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_SEQUENTIAL_WRITE = 1u << 28,
  IREE_HAL_BUFFER_USAGE_MAPPING =
      IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED | IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM,
  IREE_HAL_BUFFER_USAGE_DEFAULT =
      IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE,
};
typedef uint32_t iree_hal_buffer_usage_t;

/// As iree_hal_memory_type_parse.
IREE_API_EXPORT iree_status_t iree_hal_buffer_usage_parse(iree_string_view_t value,
                                                          iree_hal_buffer_usage_t* out_value);

/// As iree_hal_memory_type_format.
IREE_API_EXPORT iree_string_view_t
iree_hal_buffer_usage_format(iree_hal_buffer_usage_t value, iree_bitfield_string_temp_t* out_temp);

/// How two ranges of buffers lie to each other.
typedef enum iree_hal_buffer_overlap_e {
  IREE_HAL_BUFFER_OVERLAP_DISJOINT = 0,
  IREE_HAL_BUFFER_OVERLAP_PARTIAL,
  IREE_HAL_BUFFER_OVERLAP_COMPLETE,
} iree_hal_buffer_overlap_t;

typedef uint32_t iree_hal_buffer_compatibility_t;
enum iree_hal_transfer_buffer_flag_bits_t {
  IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT = 0,
};
typedef uint32_t iree_hal_transfer_buffer_flags_t;

/// How long a mapping lasts: until it is unmapped and keeping its buffer, or as long as the
/// buffer.
enum iree_hal_mapping_mode_bits_t {
  IREE_HAL_MAPPING_MODE_SCOPED = 1u << 0,
  IREE_HAL_MAPPING_MODE_PERSISTENT = 1u << 1,
};
typedef uint32_t iree_hal_mapping_mode_t;

typedef uint32_t iree_hal_buffer_placement_flags_t;

/// ASYNCHRONOUS: allocated on a queue's timeline. INDETERMINATE_LIFETIME: requests to deallocate
/// only keep the timeline going.
enum iree_hal_buffer_placement_flag_bits_t {
  IREE_HAL_BUFFER_PLACEMENT_FLAG_NONE = 0u,
  IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS = 1u << 0,
  IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME = 1u << 1,
};

/// The device and queues that a buffer's allocation belongs to. The device is not retained.
typedef struct iree_hal_buffer_placement_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_buffer_placement_flags_t flags;
  uint32_t reserved;
} iree_hal_buffer_placement_t;

/// A placement on no device.
static inline iree_hal_buffer_placement_t iree_hal_buffer_placement_undefined(void) {
  iree_hal_buffer_placement_t placement;
  memset(&placement, 0, sizeof(placement));
  return placement;
}

/// Whether the placement names no device.
static inline bool
iree_hal_buffer_placement_is_undefined(const iree_hal_buffer_placement_t placement) {
  return placement.device == NULL;
}

/// What a buffer has to be. Zero fields take their defaults, see
/// iree_hal_buffer_params_canonicalize.
typedef struct iree_hal_buffer_params_t {
  iree_hal_buffer_usage_t usage;
  iree_hal_memory_access_t access;
  iree_hal_memory_type_t type;
  iree_hal_queue_affinity_t queue_affinity;
  iree_device_size_t min_alignment;
} iree_hal_buffer_params_t;

/// Replaces zero fields: usage DEFAULT, access ALL, type OPTIMAL, queues ANY.
static inline void iree_hal_buffer_params_canonicalize(iree_hal_buffer_params_t* params) {
  if (!params->usage)
    params->usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
  if (!params->access)
    params->access = IREE_HAL_MEMORY_ACCESS_ALL;
  if (!params->type)
    params->type = IREE_HAL_MEMORY_TYPE_OPTIMAL;
  if (!params->queue_affinity)
    params->queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
}

/// `params` with its defaults filled in and `usage` added.
static inline iree_hal_buffer_params_t
iree_hal_buffer_params_with_usage(const iree_hal_buffer_params_t params,
                                  iree_hal_buffer_usage_t usage) {
  iree_hal_buffer_params_t combined = params;
  iree_hal_buffer_params_canonicalize(&combined);
  combined.usage |= usage;
  return combined;
}

/// What the implementation keeps with a mapping.
typedef struct iree_hal_buffer_mapping_impl_t {
  iree_device_size_t byte_offset;
  iree_hal_memory_access_t allowed_access;
  uint32_t is_persistent : 1;
  uint32_t reserved_flags : 31;
  uint64_t reserved[1];
} iree_hal_buffer_mapping_impl_t;

/// Buffer contents in host memory. `contents` is valid until the range is unmapped.
typedef struct iree_hal_buffer_mapping_t {
  iree_byte_span_t contents;
  struct iree_hal_buffer_t* buffer;
  iree_hal_buffer_mapping_impl_t impl;
} iree_hal_buffer_mapping_t;

/// Told once that a buffer is being destroyed and what it was made of is free.
typedef void(IREE_API_PTR* iree_hal_buffer_release_fn_t)(void* user_data,
                                                         struct iree_hal_buffer_t* buffer);

typedef struct {
  iree_hal_buffer_release_fn_t fn;
  void* user_data;
} iree_hal_buffer_release_callback_t;

/// A callback that does nothing.
static inline iree_hal_buffer_release_callback_t iree_hal_buffer_release_callback_null(void) {
  iree_hal_buffer_release_callback_t callback;
  callback.fn = NULL;
  callback.user_data = NULL;
  return callback;
}

typedef struct iree_hal_buffer_t iree_hal_buffer_t;

/// PERMISSION_DENIED unless `actual_memory_type` has all expected bits.
IREE_API_EXPORT iree_status_t iree_hal_buffer_validate_memory_type(
    iree_hal_memory_type_t actual_memory_type, iree_hal_memory_type_t expected_memory_type);

/// PERMISSION_DENIED unless all required access is allowed; INVALID_ARGUMENT when neither READ nor
/// WRITE nor ANY is required.
IREE_API_EXPORT iree_status_t
iree_hal_buffer_validate_access(iree_hal_memory_access_t allowed_memory_access,
                                iree_hal_memory_access_t required_memory_access);

/// PERMISSION_DENIED unless all required usage is allowed.
IREE_API_EXPORT iree_status_t iree_hal_buffer_validate_usage(
    iree_hal_buffer_usage_t allowed_usage, iree_hal_buffer_usage_t required_usage);

/// OUT_OF_RANGE unless the range lies in the buffer.
IREE_API_EXPORT iree_status_t iree_hal_buffer_validate_range(iree_hal_buffer_t* buffer,
                                                             iree_device_size_t byte_offset,
                                                             iree_device_size_t byte_length);

/// Checks a range against one of `max_length` bytes and moves it by `base_offset`; WHOLE_BUFFER
/// becomes what follows the offset. OUT_OF_RANGE when it does not fit.
IREE_API_EXPORT iree_status_t iree_hal_buffer_calculate_range(
    iree_device_size_t base_offset, iree_device_size_t max_length, iree_device_size_t offset,
    iree_device_size_t length, iree_device_size_t* out_adjusted_offset,
    iree_device_size_t* out_adjusted_length);

/// Compares two ranges; those of different allocations are disjoint.
IREE_API_EXPORT iree_hal_buffer_overlap_t iree_hal_buffer_test_overlap(
    iree_hal_buffer_t* lhs_buffer, iree_device_size_t lhs_offset, iree_device_size_t lhs_length,
    iree_hal_buffer_t* rhs_buffer, iree_device_size_t rhs_offset, iree_device_size_t rhs_length);

/// A buffer over a range of `buffer`; the whole range gives `buffer` itself, retained. Spans of
/// spans refer to the allocation directly.
IREE_API_EXPORT iree_status_t iree_hal_buffer_subspan(iree_hal_buffer_t* buffer,
                                                      iree_device_size_t byte_offset,
                                                      iree_device_size_t byte_length,
                                                      iree_allocator_t host_allocator,
                                                      iree_hal_buffer_t** out_buffer);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_buffer_retain(iree_hal_buffer_t* buffer);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_buffer_release(iree_hal_buffer_t* buffer);

/// The buffer that owns the memory: `buffer` itself or what it is a span of.
IREE_API_EXPORT iree_hal_buffer_t*
iree_hal_buffer_allocated_buffer(const iree_hal_buffer_t* buffer);

/// Bytes of the whole allocation.
IREE_API_EXPORT iree_device_size_t iree_hal_buffer_allocation_size(const iree_hal_buffer_t* buffer);

/// Where the whole allocation is placed.
IREE_API_EXPORT iree_hal_buffer_placement_t
iree_hal_buffer_allocation_placement(const iree_hal_buffer_t* buffer);

/// Adds an owner of the allocation's contents. Starts at one; apart from references.
IREE_API_EXPORT void iree_hal_buffer_allocation_preserve(iree_hal_buffer_t* buffer);

/// Drops an owner of the contents; true for the last, who then may deallocate.
IREE_API_EXPORT IREE_MUST_USE_RESULT bool
iree_hal_buffer_allocation_discard(iree_hal_buffer_t* buffer);

/// Whether there is one owner of the contents left.
IREE_API_EXPORT bool iree_hal_buffer_allocation_is_terminal(const iree_hal_buffer_t* buffer);

/// Where the buffer begins in its allocation, in bytes.
IREE_API_EXPORT iree_device_size_t iree_hal_buffer_byte_offset(const iree_hal_buffer_t* buffer);

/// Bytes of this buffer.
IREE_API_EXPORT iree_device_size_t iree_hal_buffer_byte_length(const iree_hal_buffer_t* buffer);

/// The memory type that was chosen at allocation.
IREE_API_EXPORT
iree_hal_memory_type_t iree_hal_buffer_memory_type(const iree_hal_buffer_t* buffer);

/// The access that is allowed.
IREE_API_EXPORT
iree_hal_memory_access_t iree_hal_buffer_allowed_access(const iree_hal_buffer_t* buffer);

/// The usage that is allowed.
IREE_API_EXPORT
iree_hal_buffer_usage_t iree_hal_buffer_allowed_usage(const iree_hal_buffer_t* buffer);

/// Zeroes a range through a mapping.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_zero(iree_hal_buffer_t* buffer,
                                                       iree_device_size_t byte_offset,
                                                       iree_device_size_t byte_length);

/// Repeats a pattern of 1, 2 or 4 bytes over a range, whose offset and length are multiples of it,
/// through a mapping.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_fill(iree_hal_buffer_t* buffer,
                                                       iree_device_size_t byte_offset,
                                                       iree_device_size_t byte_length,
                                                       const void* pattern,
                                                       iree_host_size_t pattern_length);

/// Copies a range to host memory through a mapping.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_read(iree_hal_buffer_t* source_buffer,
                                                       iree_device_size_t source_offset,
                                                       void* target_buffer,
                                                       iree_device_size_t data_length);

/// Copies host memory to a range through a mapping.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_write(iree_hal_buffer_t* target_buffer,
                                                        iree_device_size_t target_offset,
                                                        const void* source_buffer,
                                                        iree_device_size_t data_length);

/// Copies between ranges, which must not overlap, through mappings. WHOLE_BUFFER takes the smaller
/// side.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_copy(iree_hal_buffer_t* source_buffer,
                                                       iree_device_size_t source_offset,
                                                       iree_hal_buffer_t* target_buffer,
                                                       iree_device_size_t target_offset,
                                                       iree_device_size_t data_length);

/// Maps a range for the host. INVALID_ARGUMENT without READ or WRITE, PERMISSION_DENIED for what
/// the buffer does not allow, OUT_OF_RANGE. Ends with iree_hal_buffer_unmap_range.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_range(
    iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
    iree_hal_memory_access_t memory_access, iree_device_size_t byte_offset,
    iree_device_size_t byte_length, iree_hal_buffer_mapping_t* out_buffer_mapping);

/// The checks of iree_hal_buffer_map_range; fills the mapping but for its contents.
IREE_API_EXPORT iree_status_t iree_hal_buffer_prepare_map_range(
    iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
    iree_hal_memory_access_t memory_access, iree_device_size_t byte_offset,
    iree_device_size_t byte_length, iree_hal_buffer_mapping_t* out_buffer_mapping);

/// Has the driver map what iree_hal_buffer_prepare_map_range prepared.
IREE_API_EXPORT iree_status_t iree_hal_buffer_commit_map_range(
    iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
    iree_hal_memory_access_t memory_access, iree_hal_buffer_mapping_t* buffer_mapping);

/// Ends a mapping and clears it; an empty one is fine.
IREE_API_EXPORT iree_status_t
iree_hal_buffer_unmap_range(iree_hal_buffer_mapping_t* buffer_mapping);

/// Makes device writes visible in a mapping of memory that is not coherent; needs READ.
IREE_API_EXPORT iree_status_t iree_hal_buffer_mapping_invalidate_range(
    iree_hal_buffer_mapping_t* buffer_mapping, iree_device_size_t byte_offset,
    iree_device_size_t byte_length);

/// Makes host writes visible to the device in memory that is not coherent; needs WRITE.
IREE_API_EXPORT iree_status_t
iree_hal_buffer_mapping_flush_range(iree_hal_buffer_mapping_t* buffer_mapping,
                                    iree_device_size_t byte_offset, iree_device_size_t byte_length);

/// A checked part of a mapping's contents.
IREE_API_EXPORT iree_status_t iree_hal_buffer_mapping_subspan(
    iree_hal_buffer_mapping_t* buffer_mapping, iree_hal_memory_access_t memory_access,
    iree_device_size_t byte_offset, iree_device_size_t byte_length, iree_byte_span_t* out_span);

/// Makes a buffer over a range, in bytes from its start, of an allocation.
IREE_API_EXPORT iree_status_t iree_hal_subspan_buffer_create(iree_hal_buffer_t* allocated_buffer,
                                                             iree_device_size_t byte_offset,
                                                             iree_device_size_t byte_length,
                                                             iree_allocator_t host_allocator,
                                                             iree_hal_buffer_t** out_buffer);

/// Makes a buffer over host memory; `release_callback` tells when the buffer is done with it.
iree_status_t iree_hal_heap_buffer_wrap(iree_hal_buffer_placement_t placement,
                                        iree_hal_memory_type_t memory_type,
                                        iree_hal_memory_access_t allowed_access,
                                        iree_hal_buffer_usage_t allowed_usage,
                                        iree_device_size_t allocation_size, iree_byte_span_t data,
                                        iree_hal_buffer_release_callback_t release_callback,
                                        iree_allocator_t host_allocator,
                                        iree_hal_buffer_t** out_buffer);

/// Slot 0 is `recycle`, which a last release calls. Ranges are absolute in the allocation.
typedef struct iree_hal_buffer_vtable_t {
  void(IREE_API_PTR* recycle)(iree_hal_buffer_t* buffer);
  void(IREE_API_PTR* destroy)(iree_hal_buffer_t* buffer);
  iree_status_t(IREE_API_PTR* map_range)(iree_hal_buffer_t* buffer,
                                         iree_hal_mapping_mode_t mapping_mode,
                                         iree_hal_memory_access_t memory_access,
                                         iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length,
                                         iree_hal_buffer_mapping_t* mapping);
  iree_status_t(IREE_API_PTR* unmap_range)(iree_hal_buffer_t* buffer,
                                           iree_device_size_t local_byte_offset,
                                           iree_device_size_t local_byte_length,
                                           iree_hal_buffer_mapping_t* mapping);
  iree_status_t(IREE_API_PTR* invalidate_range)(iree_hal_buffer_t* buffer,
                                                iree_device_size_t local_byte_offset,
                                                iree_device_size_t local_byte_length);
  iree_status_t(IREE_API_PTR* flush_range)(iree_hal_buffer_t* buffer,
                                           iree_device_size_t local_byte_offset,
                                           iree_device_size_t local_byte_length);
} iree_hal_buffer_vtable_t;

static_assert(offsetof(iree_hal_buffer_vtable_t, recycle) == 0,
              "a buffer released for the last time is recycled");

/// What every driver's buffer begins with.
struct iree_hal_buffer_t {
  iree_hal_resource_t resource;
  iree_hal_buffer_t* allocated_buffer;
  iree_device_size_t allocation_size;
  iree_device_size_t byte_offset;
  iree_device_size_t byte_length;
  iree_hal_buffer_placement_t placement;
  iree_hal_allocator_t* pooling_allocator;
  iree_atomic_uint32_t preserve_count;
  iree_hal_memory_type_t memory_type;
  iree_hal_buffer_usage_t allowed_usage;
  iree_hal_memory_access_t allowed_access;
  uint16_t reserved;
  uint32_t flags;
};

/// Starts a driver's buffer with one reference. `allocated_buffer` is the buffer itself or,
/// retained, its allocation.
IREE_API_EXPORT void iree_hal_buffer_initialize(
    iree_hal_buffer_placement_t placement, iree_hal_buffer_t* allocated_buffer,
    iree_device_size_t allocation_size, iree_device_size_t byte_offset,
    iree_device_size_t byte_length, iree_hal_memory_type_t memory_type,
    iree_hal_memory_access_t allowed_access, iree_hal_buffer_usage_t allowed_usage,
    const iree_hal_buffer_vtable_t* vtable, iree_hal_buffer_t* buffer);

/// Hands a buffer without references to its pooling allocator, or destroys it.
IREE_API_EXPORT void iree_hal_buffer_recycle(iree_hal_buffer_t* buffer);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_buffer_destroy(iree_hal_buffer_t* buffer);

#ifdef __cplusplus
}
#endif
#endif
