// MTLComputePipelineState: a kernel ready to run.
#pragma once

#include <memory>

#include "metal/cpu/executor/pipeline.h"
#include "metal/runtime/device_object.h"

namespace mtl {

class ComputePipelineState : public DeviceObject {
public:
  OBJC_CLASS(ComputePipelineState, "BSMComputePipelineState");

  ComputePipelineState(Device* device, std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline,
                       UInteger max_total_threads_per_threadgroup)
      : DeviceObject(device), pipeline_(std::move(pipeline)),
        max_total_threads_per_threadgroup_(max_total_threads_per_threadgroup) {}

  const std::shared_ptr<bessemer::metal::cpu::Pipeline>& pipeline() const { return pipeline_; }
  UInteger max_total_threads_per_threadgroup() const { return max_total_threads_per_threadgroup_; }
  UInteger static_threadgroup_memory_length() const { return pipeline_->threadgroup_bytes(); }

private:
  std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline_;
  UInteger max_total_threads_per_threadgroup_;
};

} // namespace mtl
