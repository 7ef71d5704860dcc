// What a device runs, and when: each dispatch by the name of its kernel.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "modules/hal/types.h"
#include "vm/status.h"

namespace bessemer::modules {

// One dispatch, or one other operation of a queue that the device carried out (a fill, a copy, a
// command buffer as a whole). Times are nanoseconds of std::chrono::steady_clock.
struct TracedWork {
  enum class Kind : uint8_t { Dispatch, Operation };

  Kind kind = Kind::Operation;
  std::string name; // the executable's export, or what the queue calls the operation ("execute")
  uint32_t queue = 0;
  uint64_t submission = 0; // work of one queue operation has the same number
  // Of a dispatch. The count is 0, 0, 0 when the device read it from memory.
  std::array<uint32_t, 3> threadgroups = {};
  std::array<uint32_t, 3> threadgroupSize = {};
  uint64_t bytes = 0; // of a transfer
  uint64_t startNs = 0;
  uint64_t endNs = 0;
};

// Records from `begin` to `end`. Timing costs: on Metal each dispatch gets an encoder of its own,
// so that dispatches of one command buffer no longer overlap; what is under way when recording ends
// is left out, so wait for it first.
class DispatchTrace {
public:
  // Unimplemented when the device cannot time dispatches, FailedPrecondition when it is being
  // profiled already.
  static vm::Result<std::unique_ptr<DispatchTrace>> begin(iree_hal_device_t* device);
  DispatchTrace(const DispatchTrace&) = delete;
  ~DispatchTrace(); // ends the session

  // Hands on what was recorded since the last call, in the order of its starts. For programs that
  // run long.
  vm::Result<std::vector<TracedWork>> take();
  // The rest, and no more.
  vm::Result<std::vector<TracedWork>> end();

private:
  struct Sink;
  struct Release {
    void operator()(Sink* sink) const;
  };
  DispatchTrace();

  vm::RefPtr<iree_hal_device_t> device_;
  std::unique_ptr<Sink, Release> sink_;
  bool recording_ = false;
};

} // namespace bessemer::modules
