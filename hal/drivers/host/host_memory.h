#pragma once

#include <cstdint>
#include <span>

#include "hal/drivers/host/retained.h"
#include "iree/hal/buffer.h"

namespace bessemer::hal::host {

/// A range of a buffer as the device, that is the host, sees it.
struct HostMemory {
  std::span<uint8_t> bytes;
  /// Keeps `bytes` valid.
  Retained<iree_hal_buffer_t> owner;
};

/// Finds the bytes of [offset, offset + length) of `buffer`. FAILED_PRECONDITION for transient
/// buffers without memory, OUT_OF_RANGE beyond the buffer.
iree_status_t resolveHostMemory(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                iree_device_size_t length, HostMemory* out_memory);

} // namespace bessemer::hal::host
