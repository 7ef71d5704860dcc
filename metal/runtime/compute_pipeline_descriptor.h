// MTLComputePipelineDescriptor.
#pragma once

#include "metal/foundation/array.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/linked_functions.h"
#include "metal/runtime/pipeline_buffer_descriptor.h"
#include "metal/runtime/stage_input_output_descriptor.h"

namespace mtl {

class Function;

struct ComputePipelineDescriptorValues {
  objc::Ref<ns::String> label;
  objc::Ref<Function> function;
  bool size_is_multiple_of_width = false;
  UInteger max_total_threads = 0; // 0: the function's or the device's limit
  objc::Ref<StageInputOutputDescriptor> stage_input;
  bool support_indirect_command_buffers = false;
  objc::Ref<ns::Array> insert_libraries;
  objc::Ref<ns::Array> preloaded_libraries;
  objc::Ref<ns::Array> binary_archives;
  objc::Ref<LinkedFunctions> linked_functions;
  bool support_adding_binary_functions = false;
  UInteger max_call_stack_depth = 1;
  Integer shader_validation = 0;
};

class ComputePipelineDescriptor : public objc::Object, public ComputePipelineDescriptorValues {
public:
  OBJC_CLASS(ComputePipelineDescriptor, "MTLComputePipelineDescriptor");

  PipelineBufferDescriptorArray* buffers() const { return buffers_.get(); }
  void reset();
  ComputePipelineDescriptor* copy(void* zone) const;

private:
  objc::Ref<PipelineBufferDescriptorArray> buffers_ = objc::make<PipelineBufferDescriptorArray>();
};

} // namespace mtl
