// What a device did and when, collected from its profiling session.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "iree/hal/api.h"
#include "vm/status.h"

namespace bessemer::tools {

// A stretch of a device's time; times are nanoseconds of CLOCK_MONOTONIC.
struct DeviceSpan {
  enum class Kind : uint8_t {
    Submission, // an operation of a queue from its submission to its end
    Execution,  // the same, while the device was at work on it
    Dispatch,   // a kernel
  };
  Kind kind = Kind::Submission;
  std::string name; // of the operation or of the kernel
  uint32_t queue = 0;
  uint64_t submission = 0;
  int64_t begin = 0;
  int64_t end = 0;
  // Dispatches: their grid; all zero when it came from memory.
  std::array<uint32_t, 3> threadgroups{};
  std::array<uint32_t, 3> threadgroup_size{};
  // Submissions: fences, commands and when the fences let them go (0: never).
  uint32_t waits = 0;
  uint32_t signals = 0;
  uint32_t operations = 0;
  uint64_t bytes = 0;
  int64_t ready = 0;
};

// A profiling session of one device. Where a device gives no times of dispatches, there are none.
class DeviceTimeline {
public:
  // Begins to record all that the device's driver can tell. UNIMPLEMENTED: nothing.
  static vm::Result<std::unique_ptr<DeviceTimeline>> begin(iree_hal_device_t* device);
  DeviceTimeline(const DeviceTimeline&) = delete;
  DeviceTimeline& operator=(const DeviceTimeline&) = delete;
  ~DeviceTimeline();

  const std::string& device() const { return name_; }
  // What was recorded since the last call, by kind, then by begin. The device must be idle.
  vm::Result<std::vector<DeviceSpan>> take();
  // Ends the session: the rest.
  vm::Result<std::vector<DeviceSpan>> end();

private:
  struct Sink;
  struct Execution {
    int64_t begin = 0;
    int64_t end = 0;
  };

  explicit DeviceTimeline(iree_hal_device_t* device);
  void add(iree_string_view_t content, uint32_t queue, iree_const_byte_span_t bytes);
  std::vector<DeviceSpan> takeSpans();
  // Of the clock that ticks of the device, or times of the HAL, are on.
  int64_t ofTick(uint64_t tick) const;
  int64_t ofHostTime(int64_t time) const;

  iree_hal_device_t* device_;
  std::string name_;
  Sink* sink_ = nullptr;
  bool open_ = false;

  std::mutex mutex_;
  bool correlated_ = false;
  int64_t tick_offset_ = 0; // CLOCK_MONOTONIC minus a tick
  int64_t host_offset_ = 0; // CLOCK_MONOTONIC minus a HAL time
  std::map<std::pair<uint64_t, uint32_t>, std::string> functions_;
  std::vector<iree_hal_profile_queue_event_t> submissions_;
  // By submission.
  std::map<uint64_t, Execution> host_executions_;
  std::vector<iree_hal_profile_queue_device_event_t> executions_;
  std::vector<std::pair<uint32_t, iree_hal_profile_dispatch_event_t>> dispatches_; // with queues
};

// A track for each span, so that the spans of a track are apart or one inside the other: the first
// track where it fits. Spans sorted by begin, longer ones first.
std::vector<size_t> nestedTracks(const std::vector<std::pair<int64_t, int64_t>>& spans);

} // namespace bessemer::tools
