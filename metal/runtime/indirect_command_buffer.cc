#include "metal/runtime/indirect_command_buffer.h"

#include <algorithm>
#include <memory>
#include <new>

#include "metal/runtime/compute_pipeline_state.h"
#include "metal/runtime/indirect_command_buffer_descriptor.h"
#include "metal/runtime/misuse.h"

namespace mtl {

using bessemer::metal::cpu::Binding;
using bessemer::metal::cpu::CommandList;
using bessemer::metal::cpu::Dispatch;
using bessemer::metal::cpu::Size3;

namespace {

using Number = unsigned long long; // for %llu

constexpr UInteger kMostCommands = 16384;
constexpr UInteger kComputeTypes =
    kIndirectCommandTypeConcurrentDispatch | kIndirectCommandTypeConcurrentDispatchThreads;

} // namespace

objc::Ref<IndirectCommandBuffer>
IndirectCommandBuffer::create(Device* device, IndirectCommandBufferDescriptor* descriptor,
                              UInteger count, ResourceOptions options) {
  constexpr char kWhere[] =
      "MTLDevice newIndirectCommandBufferWithDescriptor:maxCommandCount:options:";
  if (!descriptor) {
    report_misuse(kWhere, "descriptor is null");
  } else if (descriptor->command_types & ~kComputeTypes) {
    report_misuse(kWhere, "commandTypes 0x%llx: this device computes only",
                  Number(descriptor->command_types));
  } else if (count > kMostCommands) {
    report_misuse(kWhere, "maxCommandCount %llu is over %llu", Number(count),
                  Number(kMostCommands));
  } else if (descriptor->max_kernel_buffers > kMaxBufferBindings) {
    report_misuse(kWhere, "maxKernelBufferBindCount %llu is over 31",
                  Number(descriptor->max_kernel_buffers));
  } else {
    return objc::make<IndirectCommandBuffer>(device, descriptor, count, options);
  }
  return nullptr;
}

IndirectCommandBuffer::IndirectCommandBuffer(Device* device,
                                             IndirectCommandBufferDescriptor* descriptor,
                                             UInteger count, ResourceOptions options)
    : Resource(device, options, count * sizeof(Command)),
      inherits_pipeline_(descriptor->inherit_pipeline_state),
      inherits_buffers_(descriptor->inherit_buffers), max_buffers_(descriptor->max_kernel_buffers),
      commands_(count) {}

IndirectComputeCommand* IndirectCommandBuffer::compute_command(UInteger index) {
  if (index >= size()) {
    report_misuse("MTLIndirectCommandBuffer indirectComputeCommandAtIndex:",
                  "index %llu is not below %llu", Number(index), Number(size()));
    return nullptr;
  }
  return objc::make<IndirectComputeCommand>(this, index).autorelease();
}

void IndirectCommandBuffer::reset(Range range) {
  if (range.location > size() || range.length > size() - range.location)
    return report_misuse("MTLIndirectCommandBuffer resetWithRange:",
                         "range {%llu, %llu} ends after the %llu commands", Number(range.location),
                         Number(range.length), Number(size()));
  std::fill_n(commands_.begin() + static_cast<ptrdiff_t>(range.location), range.length, Command{});
}

void IndirectCommandBuffer::expand(CommandList& list, const Inherited& inherited, Range range) {
  for (UInteger i = range.location; i < range.location + range.length; ++i) {
    const Command& command = commands_[i];
    if (command.group.volume() == 0)
      continue;
    if (command.barrier)
      list.barrier();
    Dispatch dispatch;
    dispatch.pipeline = inherits_pipeline_ ? inherited.pipeline : command.pipeline;
    dispatch.buffers = inherits_buffers_ ? inherited.buffers : std::span(command.buffers);
    dispatch.threadgroup_lengths = command.threadgroup_lengths;
    dispatch.threads_per_grid = command.grid;
    dispatch.threads_per_threadgroup = command.group;
    list.dispatch(dispatch);
  }
}

// Lies in the list's memory, which keeps `pipeline` and, by the command buffer, `commands`.
struct IndirectCommandBuffer::Execution {
  IndirectCommandBuffer* commands;
  bessemer::metal::cpu::Pipeline* pipeline; // inherited, may be null
  std::span<const Binding> buffers;         // inherited
  Range range;
  const uint32_t* indirect_range; // null: `range`
};

void IndirectCommandBuffer::expand_execution(CommandList& list, void* context) {
  const auto& execution = *static_cast<const Execution*>(context);
  IndirectCommandBuffer* commands = execution.commands;
  Range range = execution.range;
  if (execution.indirect_range) {
    range.location = std::min<UInteger>(execution.indirect_range[0], commands->size());
    range.length =
        std::min<UInteger>(execution.indirect_range[1], commands->size() - range.location);
  }
  Inherited inherited;
  if (execution.pipeline)
    inherited.pipeline = execution.pipeline->shared_from_this();
  inherited.buffers = execution.buffers;
  commands->expand(list, inherited, range);
}

void IndirectCommandBuffer::record(CommandList& list, Inherited inherited, Range range,
                                   const uint32_t* indirect_range) {
  auto* buffers =
      static_cast<Binding*>(list.allocate(inherited.buffers.size_bytes(), alignof(Binding)));
  std::uninitialized_copy(inherited.buffers.begin(), inherited.buffers.end(), buffers);
  void* memory = list.allocate(sizeof(Execution), alignof(Execution));
  auto* execution = new (memory) Execution{
      this, inherited.pipeline.get(), {buffers, inherited.buffers.size()}, range, indirect_range};
  if (inherited.pipeline)
    list.retain(std::move(inherited.pipeline));
  list.expand(&expand_execution, execution);
}

void IndirectComputeCommand::set_pipeline(ComputePipelineState* pipeline) {
  constexpr char kWhere[] = "MTLIndirectComputeCommand setComputePipelineState:";
  if (!pipeline)
    return report_misuse(kWhere, "the pipeline state is null");
  if (buffer_->inherits_pipeline())
    return report_misuse(kWhere, "the indirect command buffer inherits its pipeline state");
  command().pipeline = pipeline->pipeline();
  command().most_threads = pipeline->max_total_threads_per_threadgroup();
}

void IndirectComputeCommand::set_buffer(Buffer* buffer, UInteger offset, UInteger index) {
  constexpr char kWhere[] = "MTLIndirectComputeCommand setKernelBuffer:offset:atIndex:";
  if (buffer_->inherits_buffers())
    return report_misuse(kWhere, "the indirect command buffer inherits its buffers");
  if (index >= buffer_->max_buffers())
    return report_misuse(kWhere, "index %llu is not below maxKernelBufferBindCount, %llu",
                         Number(index), Number(buffer_->max_buffers()));
  if (buffer && offset > buffer->length())
    return report_misuse(kWhere, "offset %llu is not within the buffer's %llu bytes",
                         Number(offset), Number(buffer->length()));
  auto& buffers = command().buffers;
  if (index >= buffers.size())
    buffers.resize(index + 1);
  buffers[index] =
      buffer ? Binding{buffer->address() + offset, buffer->length() - offset} : Binding{};
}

void IndirectComputeCommand::set_threadgroup_memory_length(UInteger length, UInteger index) {
  constexpr char kWhere[] = "MTLIndirectComputeCommand setThreadgroupMemoryLength:atIndex:";
  if (index >= kMaxThreadgroupMemoryBindings || length > kMaxThreadgroupMemory || length % 16 != 0)
    return report_misuse(kWhere,
                         "length %llu at index %llu: a multiple of 16 up to 32768, below 31",
                         Number(length), Number(index));
  auto& lengths = command().threadgroup_lengths;
  if (index >= lengths.size())
    lengths.resize(index + 1);
  lengths[index] = static_cast<uint32_t>(length);
}

void IndirectComputeCommand::set_grid(const char* where, Size grid, Size group) {
  UInteger most = command().most_threads ? command().most_threads : kMaxThreadsPerThreadgroup;
  if (group.width == 0 || group.height == 0 || group.depth == 0 || group.width > most ||
      group.height > most || group.depth > most || group.width * group.height * group.depth > most)
    return report_misuse(where,
                         "threadsPerThreadgroup %llux%llux%llu: all must be 1 or more and "
                         "together no more than %llu",
                         Number(group.width), Number(group.height), Number(group.depth),
                         Number(most));
  if (grid.width > UINT32_MAX || grid.height > UINT32_MAX || grid.depth > UINT32_MAX)
    return report_misuse(where, "the grid of %llux%llux%llu threads is too large",
                         Number(grid.width), Number(grid.height), Number(grid.depth));
  command().grid = {uint32_t(grid.width), uint32_t(grid.height), uint32_t(grid.depth)};
  command().group = {uint32_t(group.width), uint32_t(group.height), uint32_t(group.depth)};
}

void IndirectComputeCommand::dispatch_threadgroups(Size groups, Size threads) {
  auto times = [](UInteger a, UInteger b) {
    UInteger product;
    return __builtin_mul_overflow(a, b, &product) ? ~UInteger{0} : product;
  };
  set_grid("MTLIndirectComputeCommand concurrentDispatchThreadgroups:threadsPerThreadgroup:",
           {times(groups.width, threads.width), times(groups.height, threads.height),
            times(groups.depth, threads.depth)},
           threads);
}

void IndirectComputeCommand::dispatch_threads(Size grid, Size threads) {
  set_grid("MTLIndirectComputeCommand concurrentDispatchThreads:threadsPerThreadgroup:", grid,
           threads);
}

namespace {

void set_buffer_with_stride(IndirectComputeCommand* self, Buffer* buffer, UInteger offset, UInteger,
                            UInteger index) {
  self->set_buffer(buffer, offset, index);
}
void set_imageblock(IndirectComputeCommand*, UInteger, UInteger) {}
void set_stage_in_region(IndirectComputeCommand*, Region) {}
objc::Object* render_command(IndirectCommandBuffer*, UInteger) {
  report_misuse("MTLIndirectCommandBuffer indirectRenderCommandAtIndex:",
                "this device computes only: it has no rendering");
  return nullptr;
}

} // namespace

OBJC_DEFINE_CLASS(
    IndirectCommandBuffer, "BSMIndirectCommandBuffer", Resource,
    .methods =
        {
            objc::method<&IndirectCommandBuffer::size>("size"),
            objc::method<&IndirectCommandBuffer::gpu_resource_id>("gpuResourceID"),
            objc::method<&IndirectCommandBuffer::compute_command>("indirectComputeCommandAtIndex:"),
            objc::method<&render_command>("indirectRenderCommandAtIndex:"),
            objc::method<&IndirectCommandBuffer::reset>("resetWithRange:"),
        },
    .protocols = {"MTLIndirectCommandBuffer"});

using C = IndirectComputeCommand;

OBJC_DEFINE_CLASS(
    IndirectComputeCommand, "BSMIndirectComputeCommand", objc::Object,
    .methods =
        {
            objc::method<&C::set_pipeline>("setComputePipelineState:"),
            objc::method<&C::set_buffer>("setKernelBuffer:offset:atIndex:"),
            objc::method<&set_buffer_with_stride>(
                "setKernelBuffer:offset:attributeStride:atIndex:"),
            objc::method<&C::set_threadgroup_memory_length>("setThreadgroupMemoryLength:atIndex:"),
            objc::method<&C::dispatch_threadgroups>(
                "concurrentDispatchThreadgroups:threadsPerThreadgroup:"),
            objc::method<&C::dispatch_threads>("concurrentDispatchThreads:threadsPerThreadgroup:"),
            objc::method<&C::set_barrier>("setBarrier"),
            objc::method<&C::clear_barrier>("clearBarrier"),
            objc::method<&C::reset>("reset"),
            objc::method<&set_imageblock>("setImageblockWidth:height:"),
            objc::method<&set_stage_in_region>("setStageInRegion:"),
        },
    .protocols = {"MTLIndirectComputeCommand"});

} // namespace mtl
