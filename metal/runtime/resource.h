// MTLResource and MTLAllocation: what buffers have in common with textures, should there be any.
#pragma once

#include <atomic>

#include "metal/runtime/device_object.h"
#include "metal/runtime/types.h"

namespace mtl {

class Heap;

class Resource : public DeviceObject {
public:
  OBJC_CLASS(Resource, "BSMResource");

  Resource(Device* device, ResourceOptions options, UInteger allocated_size);

  CPUCacheMode cpu_cache_mode() const { return options_.cache_mode(); }
  StorageMode storage_mode() const { return options_.storage_mode(); }
  /// Never Default: that is tracked, or untracked in a heap.
  HazardTrackingMode hazard_tracking_mode() const { return options_.hazard_mode(); }
  ResourceOptions resource_options() const { return options_; }
  /// Remembers the state and answers the one before; memory is never taken away.
  PurgeableState set_purgeable_state(PurgeableState state);
  /// Bytes of memory this resource takes, more than its length.
  UInteger allocated_size() const { return allocated_size_; }

  /// True the first time that it is called with `owner` since another owner did so: lets a command
  /// buffer retain each resource once. A race only leads to a second true.
  bool mark_retained_by(uint64_t owner) {
    if (retained_by_.load(std::memory_order_relaxed) == owner)
      return false;
    retained_by_.store(owner, std::memory_order_relaxed);
    return true;
  }

private:
  ResourceOptions options_;
  UInteger allocated_size_;
  std::atomic<PurgeableState> purgeable_state_{PurgeableState::NonVolatile};
  std::atomic<uint64_t> retained_by_{0};
};

} // namespace mtl
