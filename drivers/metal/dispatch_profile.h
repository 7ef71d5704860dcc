// What profiles tell about the dispatches of one replay.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "drivers/metal/dispatch_samples.h"
#include "drivers/metal/profiler.h"
#include "drivers/metal/replay.h"

namespace bessemer::metal_driver {

/// Times the dispatches that the session's filter lets through, and reports them when the command
/// buffer has completed.
class DispatchProfile final : public DispatchTimer {
public:
  /// `operation` and `list` stay where they are until Record.
  DispatchProfile(std::shared_ptr<Profiler> profiler, const Profiler::Operation& operation,
                  const CommandList& list);

  MetalPtr<MTL::ComputePassDescriptor> NewPass(const DispatchCommand& dispatch) override;

  void Record(MTL::CommandBuffer* completed);

private:
  struct Timed {
    const DispatchCommand* dispatch;
    /// Of `samples_`; none when there was no room for samples.
    std::optional<size_t> pass;
  };

  std::shared_ptr<Profiler> profiler_;
  const Profiler::Operation& operation_;
  DispatchSamples samples_;
  size_t pass_count_ = 0;
  std::vector<Timed> timed_;
};

} // namespace bessemer::metal_driver
