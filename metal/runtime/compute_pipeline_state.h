// MTLComputePipelineState and MTLComputePipelineReflection.
#pragma once

#include <expected>
#include <memory>

#include "metal/cpu/executor/pipeline.h"
#include "metal/foundation/array.h"
#include "metal/runtime/device_object.h"
#include "metal/runtime/function.h"

namespace mtl {

class ComputePipelineDescriptor;

class ComputePipelineState : public DeviceObject {
public:
  OBJC_CLASS(ComputePipelineState, "BSMComputePipelineState");

  static constexpr UInteger kThreadExecutionWidth = 32;

  /// Compiles; blocks. One line that says what is wrong on failure.
  static std::expected<objc::Ref<ComputePipelineState>, std::string>
  create(Device* device, ComputePipelineDescriptor* descriptor);

  ComputePipelineState(Function* function, ComputePipelineDescriptor* descriptor,
                       std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline);

  const std::shared_ptr<bessemer::metal::cpu::Pipeline>& pipeline() const { return pipeline_; }
  UInteger max_total_threads_per_threadgroup() const { return max_total_threads_; }
  UInteger thread_execution_width() const { return kThreadExecutionWidth; }
  UInteger static_threadgroup_memory_length() const { return pipeline_->threadgroup_bytes(); }
  bool supports_indirect_command_buffers() const { return supports_indirect_command_buffers_; }
  ResourceID gpu_resource_id() const { return {resource_id_}; }
  Integer shader_validation() const { return shader_validation_; }
  Function* function() const { return function_.get(); }

private:
  objc::Ref<Function> function_;
  std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline_;
  UInteger max_total_threads_;
  bool supports_indirect_command_buffers_;
  Integer shader_validation_;
  uint64_t resource_id_;
};

class ComputePipelineReflection : public objc::Object {
public:
  OBJC_CLASS(ComputePipelineReflection, "MTLComputePipelineReflection");

  ComputePipelineReflection() = default;
  explicit ComputePipelineReflection(Function* function);

  ns::Array* bindings() const { return bindings_.get(); }
  ns::Array* arguments() const { return arguments_.get(); }

private:
  objc::Ref<ns::Array> bindings_ = objc::make<ns::Array>();
  objc::Ref<ns::Array> arguments_ = objc::make<ns::Array>();
};

} // namespace mtl
