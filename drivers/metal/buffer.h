// iree_hal_buffer_t over a range of an MTLBuffer.
#pragma once

#include <memory>

#include "drivers/metal/device_memory.h"
#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

struct BufferOptions {
  iree_hal_buffer_placement_t placement = {};
  /// Resolved: type, usage and access are what the buffer has.
  iree_hal_buffer_params_t params = {};
  iree_device_size_t allocation_size = 0;
  iree_device_size_t byte_length = 0;
  /// Where the buffer begins in its MTLBuffer.
  iree_device_size_t handle_offset = 0;
  /// The MTLBuffer is this buffer's alone, is made known to the device, and counts when
  /// `counts_as_memory`.
  bool adopts_handle = true;
  bool counts_as_memory = true;
  iree_hal_buffer_release_callback_t release_callback = {};
  iree_allocator_t host_allocator = {};
};

iree_status_t CreateBuffer(const BufferOptions& options, std::shared_ptr<DeviceMemory> memory,
                           MetalPtr<MTL::Buffer> handle, iree_hal_buffer_t** out_buffer);

/// For vtables of buffers whose mappings are the memory itself: there is nothing to undo, and
/// memory that the host can map is coherent.
iree_status_t UnmapRange(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                         iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping);
iree_status_t SyncRange(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                        iree_device_size_t local_byte_length);

/// Where the storage of a buffer lies.
struct BufferLocation {
  MTL::Buffer* handle = nullptr;
  iree_device_size_t offset = 0;

  uint64_t gpu_address() const { return handle->gpuAddress() + offset; }
  /// NULL for private memory.
  uint8_t* host_pointer() const {
    auto* contents = static_cast<uint8_t*>(handle->contents());
    return contents ? contents + offset : nullptr;
  }
};

/// Finds the storage behind a root buffer of this driver: a buffer, or the committed storage of a
/// transient one (FAILED_PRECONDITION when there is none). INVALID_ARGUMENT for others' buffers.
/// The result is valid while the storage is.
iree_status_t Locate(iree_hal_buffer_t* root_buffer, BufferLocation* out_location);

} // namespace bessemer::metal_driver
