// One queue of a device: its MTLCommandQueue and its axis of events.
#pragma once

#include <atomic>

#include "drivers/metal/objects.h"
#include "iree/async/frontier_tracker.h"

namespace bessemer::metal_driver {

struct Queue {
  MetalPtr<MTL::CommandQueue> handle;
  /// Between encoders of a command buffer.
  MetalPtr<MTL::Fence> fence;
  uint32_t ordinal = 0;

  /// Command buffers on their way that end only with what others do: they wait for events.
  std::atomic<uint32_t> open_ended{0};

  /// NULL until the device is in a group.
  iree_async_frontier_tracker_t* tracker() const { return tracker_; }
  iree_async_axis_t axis() const { return axis_; }
  uint64_t NextEpoch() { return ++epoch_; }
  uint64_t epoch() const { return epoch_; }
  void Advance(uint64_t epoch) {
    if (tracker_)
      iree_async_frontier_tracker_advance(tracker_, axis_, epoch);
  }

  iree_status_t Register(iree_async_frontier_tracker_t* tracker, iree_async_axis_t axis) {
    IREE_RETURN_IF_ERROR(iree_async_frontier_tracker_register_axis(tracker, axis, nullptr));
    iree_async_frontier_tracker_retain(tracker);
    tracker_ = tracker;
    axis_ = axis;
    epoch_ = 0;
    return iree_ok_status();
  }
  void Unregister() {
    if (!tracker_)
      return;
    iree_async_frontier_tracker_retire_axis(
        tracker_, axis_, iree_make_status(IREE_STATUS_CANCELLED, "the queue is gone"));
    iree_async_frontier_tracker_release(tracker_);
    tracker_ = nullptr;
  }

  // Set by Register; public, so that a device is standard layout.
  iree_async_frontier_tracker_t* tracker_ = nullptr;
  iree_async_axis_t axis_ = 0;
  std::atomic<uint64_t> epoch_{0};
};

} // namespace bessemer::metal_driver
