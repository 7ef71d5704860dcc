// Memory of one Metal device: allocation, residency, statistics.
#pragma once

#include <memory>
#include <mutex>

#include "drivers/metal/objects.h"
#include "drivers/metal/profiling_slot.h"

namespace bessemer::metal_driver {

/// A number that no other allocation of the process has, for profiles.
uint64_t NewAllocationId();

/// Shared by everything that allocates or owns memory of a device. Thread safe. Buffers keep it
/// alive, as they may outlive the device that they came from.
class DeviceMemory {
public:
  explicit DeviceMemory(MetalPtr<MTL::Device> device);

  MTL::Device* device() const { return device_.get(); }

  /// What a buffer with these wishes will be: adds what the memory can do in any case. False when
  /// the device has no such memory.
  bool Resolve(iree_hal_buffer_params_t& params, iree_device_size_t& size) const;

  /// Zeroed memory that the device and, unless it is private, the host can address.
  iree_status_t Allocate(const iree_hal_buffer_params_t& params, iree_device_size_t size,
                         MetalPtr<MTL::Buffer>* out_buffer);
  /// Memory of the host as a buffer: whole pages, which stay the caller's and must outlive it.
  iree_status_t Wrap(void* data, iree_device_size_t size, MetalPtr<MTL::Buffer>* out_buffer);

  /// Makes a buffer known to the device, so that kernels may reach it through pointers, and to the
  /// statistics; the second undoes the first. `is_owned` memory counts.
  void Adopt(MTL::Buffer* buffer, iree_hal_memory_type_t type, bool is_owned);
  void Forget(MTL::Buffer* buffer, iree_hal_memory_type_t type, bool is_owned);

  /// With a residency set there is nothing for encoders to do; without one they name what they use.
  bool NeedsUseResource() const { return !residency_; }
  void AttachTo(MTL::CommandQueue* queue);
  /// Before a commit: makes additions and removals take effect.
  void CommitResidency();

  void QueryStatistics(iree_hal_allocator_statistics_t* out_statistics) const;

  /// Of the device whose memory this is.
  ProfilingSlot& profiling() { return profiling_; }

private:
  MetalPtr<MTL::Device> device_;
  MetalPtr<MTL::ResidencySet> residency_;
  bool unified_;
  ProfilingSlot profiling_;
  mutable std::mutex mutex_;
  bool residency_changed_ = false;
  IREE_STATISTICS(iree_hal_allocator_statistics_t statistics_ = {};)
};

} // namespace bessemer::metal_driver
