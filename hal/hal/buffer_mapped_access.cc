// Reads, writes, fills and copies of a buffer's contents by the host, each through a scoped
// mapping.

#include <algorithm>
#include <cstring>

#include "hal/hal/fill_pattern.h"
#include "iree/hal/buffer.h"

namespace {

/// A scoped mapping that is unmapped at the end of its scope unless `finish` did so before.
class ScopedMapping {
public:
  ScopedMapping() { std::memset(&mapping_, 0, sizeof(mapping_)); }
  ScopedMapping(const ScopedMapping&) = delete;
  ScopedMapping& operator=(const ScopedMapping&) = delete;
  ~ScopedMapping() { iree_status_ignore(iree_hal_buffer_unmap_range(&mapping_)); }

  iree_status_t map(iree_hal_buffer_t* buffer, iree_hal_memory_access_t access,
                    iree_device_size_t offset, iree_device_size_t length) {
    return iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED, access, offset, length,
                                     &mapping_);
  }

  uint8_t* data() const { return mapping_.contents.data; }
  iree_host_size_t size() const { return mapping_.contents.data_length; }

  /// Makes device writes visible to the host, where that takes an action.
  iree_status_t invalidate() {
    if (isCoherent())
      return iree_ok_status();
    return iree_hal_buffer_mapping_invalidate_range(&mapping_, 0, IREE_HAL_WHOLE_BUFFER);
  }

  /// Makes host writes visible to the device, where that takes an action, and unmaps.
  iree_status_t flushAndUnmap() {
    iree_status_t status = iree_ok_status();
    if (!isCoherent()) {
      status = iree_hal_buffer_mapping_flush_range(&mapping_, 0, IREE_HAL_WHOLE_BUFFER);
    }
    return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping_));
  }

private:
  bool isCoherent() const {
    return iree_all_bits_set(iree_hal_buffer_memory_type(mapping_.buffer),
                             IREE_HAL_MEMORY_TYPE_HOST_COHERENT);
  }

  iree_hal_buffer_mapping_t mapping_;
};

} // namespace

iree_status_t iree_hal_buffer_map_zero(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                       iree_device_size_t byte_length) {
  const uint8_t zero = 0;
  return iree_hal_buffer_map_fill(buffer, byte_offset, byte_length, &zero, sizeof(zero));
}

iree_status_t iree_hal_buffer_map_fill(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                       iree_device_size_t byte_length, const void* pattern,
                                       iree_host_size_t pattern_length) {
  if (byte_length == 0)
    return iree_ok_status();
  if (pattern_length != 1 && pattern_length != 2 && pattern_length != 4) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill patterns are 1, 2 or 4 bytes; this one is %" PRIhsz,
                            pattern_length);
  }
  ScopedMapping target;
  IREE_RETURN_IF_ERROR(
      target.map(buffer, IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, byte_offset, byte_length));
  if (byte_offset % pattern_length != 0 || target.size() % pattern_length != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill of %" PRIhsz " bytes at offset %" PRIdsz
                            " is not a multiple of its %" PRIhsz "-byte pattern",
                            target.size(), byte_offset, pattern_length);
  }
  bessemer::hal::fillPattern(target.data(), target.size(), pattern, pattern_length);
  return target.flushAndUnmap();
}

iree_status_t iree_hal_buffer_map_read(iree_hal_buffer_t* source_buffer,
                                       iree_device_size_t source_offset, void* target_buffer,
                                       iree_device_size_t data_length) {
  if (data_length == 0)
    return iree_ok_status();
  ScopedMapping source;
  IREE_RETURN_IF_ERROR(
      source.map(source_buffer, IREE_HAL_MEMORY_ACCESS_READ, source_offset, data_length));
  IREE_RETURN_IF_ERROR(source.invalidate());
  std::memcpy(target_buffer, source.data(), source.size());
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_map_write(iree_hal_buffer_t* target_buffer,
                                        iree_device_size_t target_offset, const void* source_buffer,
                                        iree_device_size_t data_length) {
  if (data_length == 0)
    return iree_ok_status();
  ScopedMapping target;
  IREE_RETURN_IF_ERROR(
      target.map(target_buffer, IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, target_offset, data_length));
  std::memcpy(target.data(), source_buffer, target.size());
  return target.flushAndUnmap();
}

iree_status_t iree_hal_buffer_map_copy(iree_hal_buffer_t* source_buffer,
                                       iree_device_size_t source_offset,
                                       iree_hal_buffer_t* target_buffer,
                                       iree_device_size_t target_offset,
                                       iree_device_size_t data_length) {
  if (data_length == 0)
    return iree_ok_status();
  if (data_length == IREE_HAL_WHOLE_BUFFER) {
    auto remaining = [](iree_hal_buffer_t* buffer, iree_device_size_t offset) {
      const iree_device_size_t length = iree_hal_buffer_byte_length(buffer);
      return length - std::min(offset, length);
    };
    data_length =
        std::min(remaining(source_buffer, source_offset), remaining(target_buffer, target_offset));
    if (data_length == 0)
      return iree_ok_status();
  }
  if (iree_hal_buffer_test_overlap(source_buffer, source_offset, data_length, target_buffer,
                                   target_offset,
                                   data_length) != IREE_HAL_BUFFER_OVERLAP_DISJOINT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "source and target ranges of a copy may not overlap");
  }
  ScopedMapping source, target;
  IREE_RETURN_IF_ERROR(
      source.map(source_buffer, IREE_HAL_MEMORY_ACCESS_READ, source_offset, data_length));
  IREE_RETURN_IF_ERROR(
      target.map(target_buffer, IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, target_offset, data_length));
  IREE_RETURN_IF_ERROR(source.invalidate());
  std::memcpy(target.data(), source.data(), target.size());
  return target.flushAndUnmap();
}
