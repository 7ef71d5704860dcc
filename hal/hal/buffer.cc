#include "iree/hal/buffer.h"

#include <cstring>

#include "hal/hal/object.h"
#include "iree/hal/allocator.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_buffer_vtable_t;

void iree_hal_buffer_initialize(iree_hal_buffer_placement_t placement,
                                iree_hal_buffer_t* allocated_buffer,
                                iree_device_size_t allocation_size, iree_device_size_t byte_offset,
                                iree_device_size_t byte_length, iree_hal_memory_type_t memory_type,
                                iree_hal_memory_access_t allowed_access,
                                iree_hal_buffer_usage_t allowed_usage,
                                const iree_hal_buffer_vtable_t* vtable, iree_hal_buffer_t* buffer) {
  iree_hal_resource_initialize(vtable, &buffer->resource);
  buffer->allocated_buffer = allocated_buffer;
  buffer->allocation_size = allocation_size;
  buffer->byte_offset = byte_offset;
  buffer->byte_length = byte_length;
  buffer->placement = placement;
  buffer->pooling_allocator = nullptr;
  iree_atomic_store(&buffer->preserve_count, 1u, iree_memory_order_relaxed);
  buffer->memory_type = memory_type;
  buffer->allowed_usage = allowed_usage;
  buffer->allowed_access = allowed_access;
  buffer->reserved = 0;
  buffer->flags = 0;
  if (allocated_buffer != buffer)
    iree_hal_buffer_retain(allocated_buffer);
}

void iree_hal_buffer_retain(iree_hal_buffer_t* buffer) { iree_hal_resource_retain(buffer); }

void iree_hal_buffer_release(iree_hal_buffer_t* buffer) { iree_hal_resource_release(buffer); }

void iree_hal_buffer_recycle(iree_hal_buffer_t* buffer) {
  if (!buffer)
    return;
  if (buffer->pooling_allocator) {
    iree_hal_allocator_deallocate_buffer(buffer->pooling_allocator, buffer);
  } else {
    iree_hal_buffer_destroy(buffer);
  }
}

void iree_hal_buffer_destroy(iree_hal_buffer_t* buffer) {
  if (buffer)
    vtableOf<Vtable>(buffer).destroy(buffer);
}

//===--- validation ---------------------------------------------------------------------------===//

iree_status_t iree_hal_buffer_validate_memory_type(iree_hal_memory_type_t actual_memory_type,
                                                   iree_hal_memory_type_t expected_memory_type) {
  if (iree_all_bits_set(actual_memory_type, expected_memory_type))
    return iree_ok_status();
  iree_bitfield_string_temp_t actualTemp, expectedTemp;
  iree_string_view_t actual = iree_hal_memory_type_format(actual_memory_type, &actualTemp);
  iree_string_view_t expected = iree_hal_memory_type_format(expected_memory_type, &expectedTemp);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                          "buffer has memory type %.*s but %.*s is needed", (int)actual.size,
                          actual.data, (int)expected.size, expected.data);
}

iree_status_t iree_hal_buffer_validate_access(iree_hal_memory_access_t allowed_memory_access,
                                              iree_hal_memory_access_t required_memory_access) {
  if (iree_any_bit_set(required_memory_access, IREE_HAL_MEMORY_ACCESS_ANY))
    return iree_ok_status();
  if (!iree_any_bit_set(required_memory_access,
                        IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "an access must read or write; neither bit is set in 0x%x",
                            required_memory_access);
  }
  // The remaining bits describe how the access is made, not what it needs to be allowed.
  const uint32_t required = required_memory_access & IREE_HAL_MEMORY_ACCESS_ALL;
  if (iree_all_bits_set(allowed_memory_access, required))
    return iree_ok_status();
  iree_bitfield_string_temp_t allowedTemp, requiredTemp;
  iree_string_view_t allowed = iree_hal_memory_access_format(allowed_memory_access, &allowedTemp);
  iree_string_view_t wanted = iree_hal_memory_access_format(required_memory_access, &requiredTemp);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                          "buffer allows access %.*s but %.*s is needed", (int)allowed.size,
                          allowed.data, (int)wanted.size, wanted.data);
}

iree_status_t iree_hal_buffer_validate_usage(iree_hal_buffer_usage_t allowed_usage,
                                             iree_hal_buffer_usage_t required_usage) {
  if (iree_all_bits_set(allowed_usage, required_usage))
    return iree_ok_status();
  iree_bitfield_string_temp_t allowedTemp, requiredTemp;
  iree_string_view_t allowed = iree_hal_buffer_usage_format(allowed_usage, &allowedTemp);
  iree_string_view_t wanted = iree_hal_buffer_usage_format(required_usage, &requiredTemp);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                          "buffer allows usage %.*s but %.*s is needed", (int)allowed.size,
                          allowed.data, (int)wanted.size, wanted.data);
}

iree_status_t iree_hal_buffer_validate_range(iree_hal_buffer_t* buffer,
                                             iree_device_size_t byte_offset,
                                             iree_device_size_t byte_length) {
  iree_device_size_t offset = 0, length = 0;
  return iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(buffer), byte_offset,
                                         byte_length, &offset, &length);
}

iree_status_t iree_hal_buffer_calculate_range(iree_device_size_t base_offset,
                                              iree_device_size_t max_length,
                                              iree_device_size_t offset, iree_device_size_t length,
                                              iree_device_size_t* out_adjusted_offset,
                                              iree_device_size_t* out_adjusted_length) {
  *out_adjusted_offset = 0;
  if (out_adjusted_length)
    *out_adjusted_length = 0;
  if (offset > max_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "offset %" PRIdsz " is beyond the buffer range of %" PRIdsz " bytes",
                            offset, max_length);
  }
  const iree_device_size_t available = max_length - offset;
  if (length == IREE_HAL_WHOLE_BUFFER)
    length = available;
  if (length > available) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "range of %" PRIdsz " bytes at offset %" PRIdsz
                            " ends beyond the buffer range of %" PRIdsz " bytes",
                            length, offset, max_length);
  }
  *out_adjusted_offset = base_offset + offset;
  if (out_adjusted_length)
    *out_adjusted_length = length;
  return iree_ok_status();
}

iree_hal_buffer_overlap_t
iree_hal_buffer_test_overlap(iree_hal_buffer_t* lhs_buffer, iree_device_size_t lhs_offset,
                             iree_device_size_t lhs_length, iree_hal_buffer_t* rhs_buffer,
                             iree_device_size_t rhs_offset, iree_device_size_t rhs_length) {
  if (iree_hal_buffer_allocated_buffer(lhs_buffer) !=
      iree_hal_buffer_allocated_buffer(rhs_buffer)) {
    return IREE_HAL_BUFFER_OVERLAP_DISJOINT;
  }
  auto resolve = [](iree_hal_buffer_t* buffer, iree_device_size_t offset,
                    iree_device_size_t length) {
    const iree_device_size_t size = iree_hal_buffer_byte_length(buffer);
    return length == IREE_HAL_WHOLE_BUFFER ? size - (offset < size ? offset : size) : length;
  };
  lhs_length = resolve(lhs_buffer, lhs_offset, lhs_length);
  rhs_length = resolve(rhs_buffer, rhs_offset, rhs_length);
  const iree_device_size_t lhsBegin = iree_hal_buffer_byte_offset(lhs_buffer) + lhs_offset;
  const iree_device_size_t rhsBegin = iree_hal_buffer_byte_offset(rhs_buffer) + rhs_offset;
  if (lhsBegin == rhsBegin && lhs_length == rhs_length)
    return IREE_HAL_BUFFER_OVERLAP_COMPLETE;
  const bool overlaps = lhsBegin < rhsBegin + rhs_length && rhsBegin < lhsBegin + lhs_length;
  return overlaps ? IREE_HAL_BUFFER_OVERLAP_PARTIAL : IREE_HAL_BUFFER_OVERLAP_DISJOINT;
}

//===--- properties ---------------------------------------------------------------------------===//

iree_hal_buffer_t* iree_hal_buffer_allocated_buffer(const iree_hal_buffer_t* buffer) {
  return buffer->allocated_buffer;
}

iree_device_size_t iree_hal_buffer_allocation_size(const iree_hal_buffer_t* buffer) {
  return buffer->allocation_size;
}

iree_hal_buffer_placement_t iree_hal_buffer_allocation_placement(const iree_hal_buffer_t* buffer) {
  return buffer->allocated_buffer->placement;
}

void iree_hal_buffer_allocation_preserve(iree_hal_buffer_t* buffer) {
  if (!buffer)
    return;
  iree_atomic_fetch_add(&buffer->allocated_buffer->preserve_count, 1u, iree_memory_order_acq_rel);
}

bool iree_hal_buffer_allocation_discard(iree_hal_buffer_t* buffer) {
  if (!buffer)
    return false;
  return iree_atomic_fetch_sub(&buffer->allocated_buffer->preserve_count, 1u,
                               iree_memory_order_acq_rel) == 1;
}

bool iree_hal_buffer_allocation_is_terminal(const iree_hal_buffer_t* buffer) {
  if (!buffer)
    return false;
  return iree_atomic_load(&buffer->allocated_buffer->preserve_count, iree_memory_order_acquire) ==
         1;
}

iree_device_size_t iree_hal_buffer_byte_offset(const iree_hal_buffer_t* buffer) {
  return buffer->byte_offset;
}

iree_device_size_t iree_hal_buffer_byte_length(const iree_hal_buffer_t* buffer) {
  return buffer->byte_length;
}

iree_hal_memory_type_t iree_hal_buffer_memory_type(const iree_hal_buffer_t* buffer) {
  return buffer->memory_type;
}

iree_hal_memory_access_t iree_hal_buffer_allowed_access(const iree_hal_buffer_t* buffer) {
  return buffer->allowed_access;
}

iree_hal_buffer_usage_t iree_hal_buffer_allowed_usage(const iree_hal_buffer_t* buffer) {
  return buffer->allowed_usage;
}

iree_status_t iree_hal_buffer_subspan(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                      iree_device_size_t byte_length,
                                      iree_allocator_t host_allocator,
                                      iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(buffer->byte_offset, buffer->byte_length,
                                                       byte_offset, byte_length, &offset, &length));
  if (offset == buffer->byte_offset && length == buffer->byte_length) {
    iree_hal_buffer_retain(buffer);
    *out_buffer = buffer;
    return iree_ok_status();
  }
  return iree_hal_subspan_buffer_create(buffer->allocated_buffer, offset, length, host_allocator,
                                        out_buffer);
}

//===--- mapping ------------------------------------------------------------------------------===//

iree_status_t iree_hal_buffer_prepare_map_range(iree_hal_buffer_t* buffer,
                                                iree_hal_mapping_mode_t mapping_mode,
                                                iree_hal_memory_access_t memory_access,
                                                iree_device_size_t byte_offset,
                                                iree_device_size_t byte_length,
                                                iree_hal_buffer_mapping_t* out_buffer_mapping) {
  std::memset(out_buffer_mapping, 0, sizeof(*out_buffer_mapping));
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_access(iree_hal_buffer_allowed_access(buffer), memory_access));
  const bool persistent = iree_any_bit_set(mapping_mode, IREE_HAL_MAPPING_MODE_PERSISTENT);
  if (persistent) {
    IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_memory_type(iree_hal_buffer_memory_type(buffer),
                                                              IREE_HAL_MEMORY_TYPE_HOST_VISIBLE));
    IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(iree_hal_buffer_allowed_usage(buffer),
                                                        IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT));
  }
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(buffer->byte_offset, buffer->byte_length,
                                                       byte_offset, byte_length, &offset, &length));
  out_buffer_mapping->buffer = buffer;
  out_buffer_mapping->contents = iree_make_byte_span(nullptr, (iree_host_size_t)length);
  out_buffer_mapping->impl.byte_offset = offset;
  out_buffer_mapping->impl.allowed_access = memory_access;
  out_buffer_mapping->impl.is_persistent = persistent ? 1 : 0;
  // A scoped mapping keeps its buffer alive; a persistent one is bounded by the buffer's own life.
  if (!persistent)
    iree_hal_buffer_retain(buffer);
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_commit_map_range(iree_hal_buffer_t* buffer,
                                               iree_hal_mapping_mode_t mapping_mode,
                                               iree_hal_memory_access_t memory_access,
                                               iree_hal_buffer_mapping_t* buffer_mapping) {
  return vtableOf<Vtable>(buffer).map_range(buffer, mapping_mode, memory_access,
                                            buffer_mapping->impl.byte_offset,
                                            buffer_mapping->contents.data_length, buffer_mapping);
}

iree_status_t iree_hal_buffer_map_range(iree_hal_buffer_t* buffer,
                                        iree_hal_mapping_mode_t mapping_mode,
                                        iree_hal_memory_access_t memory_access,
                                        iree_device_size_t byte_offset,
                                        iree_device_size_t byte_length,
                                        iree_hal_buffer_mapping_t* out_buffer_mapping) {
  IREE_RETURN_IF_ERROR(iree_hal_buffer_prepare_map_range(
      buffer, mapping_mode, memory_access, byte_offset, byte_length, out_buffer_mapping));
  iree_status_t status =
      iree_hal_buffer_commit_map_range(buffer, mapping_mode, memory_access, out_buffer_mapping);
  if (!iree_status_is_ok(status)) {
    if (!out_buffer_mapping->impl.is_persistent)
      iree_hal_buffer_release(buffer);
    std::memset(out_buffer_mapping, 0, sizeof(*out_buffer_mapping));
  }
  return status;
}

iree_status_t iree_hal_buffer_unmap_range(iree_hal_buffer_mapping_t* buffer_mapping) {
  iree_hal_buffer_t* buffer = buffer_mapping->buffer;
  iree_status_t status = iree_ok_status();
  if (buffer) {
    if (buffer_mapping->contents.data) {
      status = vtableOf<Vtable>(buffer).unmap_range(buffer, buffer_mapping->impl.byte_offset,
                                                    buffer_mapping->contents.data_length,
                                                    buffer_mapping);
    }
    if (!buffer_mapping->impl.is_persistent)
      iree_hal_buffer_release(buffer);
  }
  std::memset(buffer_mapping, 0, sizeof(*buffer_mapping));
  return status;
}

namespace {

/// The absolute range [offset, offset+length) that `byte_offset`, `byte_length` name in a mapping.
iree_status_t mappedRange(const iree_hal_buffer_mapping_t* mapping, iree_device_size_t byte_offset,
                          iree_device_size_t byte_length, iree_device_size_t* out_offset,
                          iree_device_size_t* out_length) {
  return iree_hal_buffer_calculate_range(mapping->impl.byte_offset, mapping->contents.data_length,
                                         byte_offset, byte_length, out_offset, out_length);
}

} // namespace

iree_status_t iree_hal_buffer_mapping_invalidate_range(iree_hal_buffer_mapping_t* buffer_mapping,
                                                       iree_device_size_t byte_offset,
                                                       iree_device_size_t byte_length) {
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_access(buffer_mapping->impl.allowed_access,
                                                       IREE_HAL_MEMORY_ACCESS_READ));
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(mappedRange(buffer_mapping, byte_offset, byte_length, &offset, &length));
  iree_hal_buffer_t* buffer = buffer_mapping->buffer;
  return vtableOf<Vtable>(buffer).invalidate_range(buffer, offset, length);
}

iree_status_t iree_hal_buffer_mapping_flush_range(iree_hal_buffer_mapping_t* buffer_mapping,
                                                  iree_device_size_t byte_offset,
                                                  iree_device_size_t byte_length) {
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_access(buffer_mapping->impl.allowed_access,
                                                       IREE_HAL_MEMORY_ACCESS_WRITE));
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(mappedRange(buffer_mapping, byte_offset, byte_length, &offset, &length));
  iree_hal_buffer_t* buffer = buffer_mapping->buffer;
  return vtableOf<Vtable>(buffer).flush_range(buffer, offset, length);
}

iree_status_t iree_hal_buffer_mapping_subspan(iree_hal_buffer_mapping_t* buffer_mapping,
                                              iree_hal_memory_access_t memory_access,
                                              iree_device_size_t byte_offset,
                                              iree_device_size_t byte_length,
                                              iree_byte_span_t* out_span) {
  *out_span = iree_byte_span_empty();
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_access(buffer_mapping->impl.allowed_access, memory_access));
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, buffer_mapping->contents.data_length,
                                                       byte_offset, byte_length, &offset, &length));
  *out_span = iree_make_byte_span(buffer_mapping->contents.data + offset, (iree_host_size_t)length);
  return iree_ok_status();
}
