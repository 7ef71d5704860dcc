// Events that tell when a command buffer has completed on the device.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

/// Each command buffer has an event to itself until it has completed. Values only grow, so that
/// those who still look at an event of before find it reached. Thread safe.
class EventPool {
public:
  struct Slot {
    MetalPtr<MTL::SharedEvent> event;
    /// What the command buffer signals.
    uint64_t value = 0;
  };

  explicit EventPool(MetalPtr<MTL::Device> device) : device_(std::move(device)) {}

  Slot Acquire() {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Slot slot = std::move(free_.back());
        free_.pop_back();
        ++slot.value;
        return slot;
      }
    }
    return {TakeMetal(device_->newSharedEvent()), 1};
  }

  /// `slot` has been reached.
  void Release(Slot slot) {
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot));
  }

private:
  MetalPtr<MTL::Device> device_;
  std::mutex mutex_;
  std::vector<Slot> free_;
};

} // namespace bessemer::metal_driver
