#include "metal/runtime/compute_pipeline_descriptor.h"

#include "metal/runtime/encoding.h"
#include "metal/runtime/function.h"
#include "metal/runtime/property.h"

namespace mtl {

void ComputePipelineDescriptor::reset() {
  static_cast<ComputePipelineDescriptorValues&>(*this) = {};
  buffers_->reset();
}

ComputePipelineDescriptor* ComputePipelineDescriptor::copy(void*) const {
  auto result = objc::make<ComputePipelineDescriptor>();
  static_cast<ComputePipelineDescriptorValues&>(*result) = *this;
  result->buffers_->assign(*buffers_);
  return result.take();
}

namespace {

using D = ComputePipelineDescriptor;
using P = Properties<D, ComputePipelineDescriptorValues>;

} // namespace

OBJC_DEFINE_CLASS(
    ComputePipelineDescriptor, "MTLComputePipelineDescriptor", objc::Object,
    .methods =
        {
            objc::method<&P::get<&D::label>>("label"),
            objc::method<&P::set<&D::label>>("setLabel:"),
            objc::method<&P::get<&D::function>>("computeFunction"),
            objc::method<&P::set<&D::function>>("setComputeFunction:"),
            objc::method<&P::get<&D::size_is_multiple_of_width>>(
                "threadGroupSizeIsMultipleOfThreadExecutionWidth"),
            objc::method<&P::set<&D::size_is_multiple_of_width>>(
                "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:"),
            objc::method<&P::get<&D::max_total_threads>>("maxTotalThreadsPerThreadgroup"),
            objc::method<&P::set<&D::max_total_threads>>("setMaxTotalThreadsPerThreadgroup:"),
            objc::method<&P::get<&D::stage_input>>("stageInputDescriptor"),
            objc::method<&P::set<&D::stage_input>>("setStageInputDescriptor:"),
            objc::method<&D::buffers>("buffers"),
            objc::method<&P::get<&D::support_indirect_command_buffers>>(
                "supportIndirectCommandBuffers"),
            objc::method<&P::set<&D::support_indirect_command_buffers>>(
                "setSupportIndirectCommandBuffers:"),
            objc::method<&P::get<&D::insert_libraries>>("insertLibraries"),
            objc::method<&P::set<&D::insert_libraries>>("setInsertLibraries:"),
            objc::method<&P::get<&D::preloaded_libraries>>("preloadedLibraries"),
            objc::method<&P::set<&D::preloaded_libraries>>("setPreloadedLibraries:"),
            objc::method<&P::get<&D::binary_archives>>("binaryArchives"),
            objc::method<&P::set<&D::binary_archives>>("setBinaryArchives:"),
            objc::method<&P::get<&D::linked_functions>>("linkedFunctions"),
            objc::method<&P::set<&D::linked_functions>>("setLinkedFunctions:"),
            objc::method<&P::get<&D::support_adding_binary_functions>>(
                "supportAddingBinaryFunctions"),
            objc::method<&P::set<&D::support_adding_binary_functions>>(
                "setSupportAddingBinaryFunctions:"),
            objc::method<&P::get<&D::max_call_stack_depth>>("maxCallStackDepth"),
            objc::method<&P::set<&D::max_call_stack_depth>>("setMaxCallStackDepth:"),
            objc::method<&P::get<&D::shader_validation>>("shaderValidation"),
            objc::method<&P::set<&D::shader_validation>>("setShaderValidation:"),
            objc::method<&D::reset>("reset"),
            objc::method<&D::copy>("copyWithZone:"),
        },
    .protocols = {"NSCopying"});

} // namespace mtl
