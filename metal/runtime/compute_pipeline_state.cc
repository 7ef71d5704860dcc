#include "metal/runtime/compute_pipeline_state.h"

#include <atomic>

#include "metal/runtime/binding.h"
#include "metal/runtime/compute_pipeline_descriptor.h"
#include "metal/runtime/library_error.h"
#include "metal/runtime/misuse.h"

namespace mtl {
namespace {

uint64_t next_resource_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

UInteger max_threads(const bessemer::metal::Function& function,
                     const ComputePipelineDescriptor& descriptor) {
  UInteger most = kMaxThreadsPerThreadgroup;
  if (UInteger limit = function.max_threads_per_threadgroup())
    most = std::min(most, limit);
  if (descriptor.max_total_threads)
    most = std::min(most, descriptor.max_total_threads);
  return most;
}

} // namespace

std::expected<objc::Ref<ComputePipelineState>, std::string>
ComputePipelineState::create(Device*, ComputePipelineDescriptor* descriptor) {
  Function* function = descriptor ? descriptor->function.get() : nullptr;
  if (!function)
    return std::unexpected("MTLComputePipelineDescriptor.computeFunction is nil");
  const bessemer::metal::Function& table = function->table();
  std::string what = "function '" + table.name()->str() + "': ";
  if (table.kind() != bessemer::metal::FunctionKind::Kernel)
    return std::unexpected(what + "is not a kernel");
  if (!function->is_specialized()) {
    auto constants = FunctionConstantValues::resolve(nullptr, table);
    return std::unexpected(constants ? what + "is not specialised" : constants.error());
  }
  if (descriptor->max_total_threads > kMaxThreadsPerThreadgroup)
    return std::unexpected("MTLComputePipelineDescriptor.maxTotalThreadsPerThreadgroup: " +
                           std::to_string(descriptor->max_total_threads) +
                           " is more than the device's " +
                           std::to_string(kMaxThreadsPerThreadgroup));
  if (descriptor->linked_functions && !descriptor->linked_functions->empty())
    return std::unexpected(
        what + "MTLLinkedFunctions: this device does not call functions through pointers");
  for (const ns::Array* libraries :
       {descriptor->insert_libraries.get(), descriptor->preloaded_libraries.get()})
    if (libraries && libraries->count())
      return std::unexpected(what + "dynamic libraries are not supported by this device");
  auto pipeline = bessemer::metal::cpu::Pipeline::create(
      bessemer::metal::cpu::CompilerService::shared(), {.library = function->library()->table(),
                                                        .function = table.name()->str(),
                                                        .constants = function->constants()});
  if (!pipeline)
    return std::unexpected(std::move(pipeline.error().message));
  if ((*pipeline)->threadgroup_bytes() > kMaxThreadgroupMemory)
    return std::unexpected(what + std::to_string((*pipeline)->threadgroup_bytes()) +
                           " bytes of threadgroup memory, more than the device's " +
                           std::to_string(kMaxThreadgroupMemory));
  return objc::make<ComputePipelineState>(function, descriptor, std::move(*pipeline));
}

ComputePipelineState::ComputePipelineState(Function* function,
                                           ComputePipelineDescriptor* descriptor,
                                           std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline)
    : DeviceObject(function->device()), function_(function), pipeline_(std::move(pipeline)),
      max_total_threads_(max_threads(function->table(), *descriptor)),
      supports_indirect_command_buffers_(descriptor->support_indirect_command_buffers),
      shader_validation_(descriptor->shader_validation), resource_id_(next_resource_id()) {
  set_label(descriptor->label ? descriptor->label.get() : function->label());
}

ComputePipelineReflection::ComputePipelineReflection(Function* function)
    : bindings_(make_bindings(function->table(), function->library()->table(), false)),
      arguments_(make_bindings(function->table(), function->library()->table(), true)) {}

namespace {

UInteger imageblock_memory_length(ComputePipelineState*, Size) { return 0; }

objc::Object* function_handle(ComputePipelineState*, Function*) {
  report_misuse("MTLComputePipelineState functionHandleWithFunction:",
                "this device does not call functions through pointers");
  return nullptr;
}
objc::Object* function_table(ComputePipelineState*, objc::Object*) {
  report_misuse("MTLComputePipelineState newVisibleFunctionTableWithDescriptor:",
                "this device does not call functions through pointers");
  return nullptr;
}
objc::Object* with_binary_functions(ComputePipelineState* self, ns::Array* functions,
                                    ns::Error** error) {
  if (!functions || !functions->count())
    return objc::Ref<ComputePipelineState>(self).take();
  ns::set_error(error,
                pipeline_error(2, "newComputePipelineStateWithAdditionalBinaryFunctions: this "
                                  "device does not call functions through pointers"));
  return nullptr;
}

} // namespace

OBJC_DEFINE_CLASS(
    ComputePipelineState, "BSMComputePipelineState", DeviceObject,
    .methods =
        {
            objc::method<&ComputePipelineState::max_total_threads_per_threadgroup>(
                "maxTotalThreadsPerThreadgroup"),
            objc::method<&ComputePipelineState::thread_execution_width>("threadExecutionWidth"),
            objc::method<&ComputePipelineState::static_threadgroup_memory_length>(
                "staticThreadgroupMemoryLength"),
            objc::method<&imageblock_memory_length>("imageblockMemoryLengthForDimensions:"),
            objc::method<&ComputePipelineState::supports_indirect_command_buffers>(
                "supportIndirectCommandBuffers"),
            objc::method<&ComputePipelineState::gpu_resource_id>("gpuResourceID"),
            objc::method<&ComputePipelineState::shader_validation>("shaderValidation"),
            objc::method<&function_handle>("functionHandleWithFunction:"),
            objc::method<&function_table>("newVisibleFunctionTableWithDescriptor:"),
            objc::method<&function_table>("newIntersectionFunctionTableWithDescriptor:"),
            objc::method<&with_binary_functions>(
                "newComputePipelineStateWithAdditionalBinaryFunctions:error:"),
        },
    .protocols = {"MTLComputePipelineState"});

OBJC_DEFINE_CLASS(ComputePipelineReflection, "MTLComputePipelineReflection", objc::Object,
                  .methods = {
                      objc::method<&ComputePipelineReflection::bindings>("bindings"),
                      objc::method<&ComputePipelineReflection::arguments>("arguments"),
                  });

} // namespace mtl
