#include "metal/runtime/compute_encoder.h"

#include <bit>
#include <cstring>
#include <utility>

#include "metal/runtime/compute_pipeline_state.h"
#include "metal/runtime/heap.h"
#include "metal/runtime/indirect_command_buffer.h"

namespace mtl {

using bessemer::metal::cpu::Binding;
using bessemer::metal::cpu::Dispatch;
using bessemer::metal::cpu::Size3;

namespace {

using Number = unsigned long long; // for %llu

// Threads of a grid in one dimension must fit in 32 bits, as kernels see them.
constexpr UInteger kMostThreads = UINT32_MAX;

} // namespace

ComputeEncoder::ComputeEncoder(CommandBuffer* buffer, DispatchType type,
                               SampleBufferAttachmentArray* samples)
    : CommandEncoder(buffer, "MTLComputeCommandEncoder", samples), type_(type) {}

void ComputeEncoder::set_pipeline(ComputePipelineState* pipeline) {
  constexpr char kMethod[] = "setComputePipelineState:";
  if (!records(kMethod))
    return;
  if (!pipeline)
    return misused(kMethod, "the pipeline state is null");
  pipeline_ = pipeline->pipeline();
  most_threads_ = static_cast<uint32_t>(pipeline->max_total_threads_per_threadgroup());
}

bool ComputeEncoder::check_index(const char* method, UInteger index) {
  if (index < kMaxBufferBindings) [[likely]]
    return true;
  misused(method, "index %llu is not below 31", Number(index));
  return false;
}

void ComputeEncoder::set_buffer(Buffer* buffer, UInteger offset, UInteger index) {
  constexpr char kMethod[] = "setBuffer:offset:atIndex:";
  if (!records(kMethod) || !check_index(kMethod, index)) [[unlikely]]
    return;
  if (!buffer) {
    bindings_[index] = {};
    bound_ &= ~(1u << index);
    buffers_ &= ~(1u << index);
    changed_ |= 1u << index;
    return;
  }
  uint64_t length = buffer->length();
  if (offset > length) [[unlikely]]
    return misused(kMethod, "offset %llu is not within the buffer's %llu bytes", Number(offset),
                   Number(length));
  char* address = buffer->address();
  bind({address + offset, length - offset}, index);
  offsets_[index] = offset;
  buffers_ |= 1u << index;
  this->buffer()->use(buffer);
}

void ComputeEncoder::set_buffers(Buffer* const* buffers, const UInteger* offsets, Range range) {
  constexpr char kMethod[] = "setBuffers:offsets:withRange:";
  if (!records(kMethod))
    return;
  if (range.location > kMaxBufferBindings || range.length > kMaxBufferBindings - range.location)
    return misused(kMethod, "range {%llu, %llu} is not below 31", Number(range.location),
                   Number(range.length));
  for (UInteger i = 0; i < range.length; ++i)
    set_buffer(buffers[i], offsets[i], range.location + i);
}

void ComputeEncoder::set_buffer_offset(UInteger offset, UInteger index) {
  constexpr char kMethod[] = "setBufferOffset:atIndex:";
  if (!records(kMethod) || !check_index(kMethod, index)) [[unlikely]]
    return;
  if (!(buffers_ >> index & 1))
    return misused(kMethod, "no buffer is set at index %llu", Number(index));
  char* address = static_cast<char*>(bindings_[index].address) - offsets_[index];
  const uint64_t length = bindings_[index].length + offsets_[index];
  if (offset > length)
    return misused(kMethod, "offset %llu is not within the buffer's %llu bytes", Number(offset),
                   Number(length));
  bind({address + offset, length - offset}, index);
  offsets_[index] = offset;
}

void ComputeEncoder::set_bytes(const void* bytes, UInteger length, UInteger index) {
  constexpr char kMethod[] = "setBytes:length:atIndex:";
  if (!records(kMethod) || !check_index(kMethod, index)) [[unlikely]]
    return;
  if (length == 0 || length > kMaxSetBytes || !bytes)
    return misused(kMethod, "length %llu is not between 1 and 4096", Number(length));
  // Aligned and padded as the largest type a kernel may see there.
  constexpr UInteger kAlignment = 16;
  void* copy = list().allocate((length + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  std::memcpy(copy, bytes, length);
  bind({copy, length}, index);
  buffers_ &= ~(1u << index); // setBufferOffset: is for buffers
}

void ComputeEncoder::set_threadgroup_memory_length(UInteger length, UInteger index) {
  constexpr char kMethod[] = "setThreadgroupMemoryLength:atIndex:";
  if (!records(kMethod) || !check_index(kMethod, index))
    return;
  if (length > kMaxThreadgroupMemory)
    return misused(kMethod, "length %llu is over 32768", Number(length));
  if (length % 16 != 0)
    return misused(kMethod, "length %llu is no multiple of 16", Number(length));
  threadgroup_bytes_ += static_cast<uint32_t>(length) - threadgroup_lengths_[index];
  threadgroup_lengths_[index] = static_cast<uint32_t>(length);
  if (index >= threadgroup_count_)
    threadgroup_count_ = static_cast<uint32_t>(index) + 1;
}

bool ComputeEncoder::prepare(const char* method, Size threads, Dispatch* dispatch) {
  if (!pipeline_) [[unlikely]] {
    misused(method, "no compute pipeline state is set");
    return false;
  }
  // Each first: the product of three large numbers could wrap.
  if (threads.width == 0 || threads.height == 0 || threads.depth == 0 ||
      threads.width > most_threads_ || threads.height > most_threads_ ||
      threads.depth > most_threads_ ||
      threads.width * threads.height * threads.depth > most_threads_) [[unlikely]] {
    misused(method,
            "threadsPerThreadgroup %llux%llux%llu: all must be 1 or more and together no more than "
            "the %u of kernel '%s'",
            Number(threads.width), Number(threads.height), Number(threads.depth), most_threads_,
            pipeline_->name().c_str());
    return false;
  }
  if (uint32_t missing = pipeline_->used_buffers() & ~bound_) [[unlikely]] {
    misused(method, "nothing is bound at buffer index %d, which kernel '%s' uses",
            std::countr_zero(missing), pipeline_->name().c_str());
    return false;
  }
  if (threadgroup_bytes_ + pipeline_->threadgroup_bytes() > kMaxThreadgroupMemory) [[unlikely]] {
    misused(method,
            "kernel '%s' has %u bytes of threadgroup memory and %u more are set: over 32768",
            pipeline_->name().c_str(), pipeline_->threadgroup_bytes(), threadgroup_bytes_);
    return false;
  }
  dispatch->pipeline = pipeline_;
  dispatch->buffers = {bindings_.data(), buffer_count_};
  dispatch->changed = std::exchange(changed_, 0);
  dispatch->threadgroup_lengths = {threadgroup_lengths_.data(), threadgroup_count_};
  dispatch->threads_per_threadgroup = {static_cast<uint32_t>(threads.width),
                                       static_cast<uint32_t>(threads.height),
                                       static_cast<uint32_t>(threads.depth)};
  return true;
}

void ComputeEncoder::dispatch_threadgroups(Size groups, Size threads) {
  constexpr char kMethod[] = "dispatchThreadgroups:threadsPerThreadgroup:";
  Dispatch dispatch;
  if (!records(kMethod) || !prepare(kMethod, threads, &dispatch)) [[unlikely]]
    return;
  const Size3 group = dispatch.threads_per_threadgroup;
  if (groups.width > kMostThreads / group.x || groups.height > kMostThreads / group.y ||
      groups.depth > kMostThreads / group.z) [[unlikely]]
    return misused(kMethod, "threadgroupsPerGrid %llux%llux%llu is too large a grid",
                   Number(groups.width), Number(groups.height), Number(groups.depth));
  dispatch.threads_per_grid = {static_cast<uint32_t>(groups.width) * group.x,
                               static_cast<uint32_t>(groups.height) * group.y,
                               static_cast<uint32_t>(groups.depth) * group.z};
  order();
  list().dispatch(dispatch);
}

void ComputeEncoder::dispatch_threads(Size grid, Size threads) {
  constexpr char kMethod[] = "dispatchThreads:threadsPerThreadgroup:";
  Dispatch dispatch;
  if (!records(kMethod) || !prepare(kMethod, threads, &dispatch)) [[unlikely]]
    return;
  if (grid.width > kMostThreads || grid.height > kMostThreads || grid.depth > kMostThreads)
      [[unlikely]]
    return misused(kMethod, "threadsPerGrid %llux%llux%llu is too large a grid", Number(grid.width),
                   Number(grid.height), Number(grid.depth));
  dispatch.threads_per_grid = {static_cast<uint32_t>(grid.width),
                               static_cast<uint32_t>(grid.height),
                               static_cast<uint32_t>(grid.depth)};
  order();
  list().dispatch(dispatch);
}

void ComputeEncoder::dispatch_threadgroups_indirect(Buffer* buffer, UInteger offset, Size threads) {
  constexpr char kMethod[] =
      "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:";
  Dispatch dispatch;
  if (!records(kMethod) || !prepare(kMethod, threads, &dispatch) ||
      !check_range(kMethod, "indirectBuffer", buffer, offset, 3 * sizeof(uint32_t)))
    return;
  if (offset % sizeof(uint32_t) != 0)
    return misused(kMethod, "indirectBufferOffset %llu is no multiple of 4", Number(offset));
  this->buffer()->use(buffer);
  order();
  list().dispatch_indirect(dispatch, reinterpret_cast<const uint32_t*>(buffer->address() + offset));
}

void ComputeEncoder::memory_barrier(UInteger scope) {
  if (!records("memoryBarrierWithScope:"))
    return;
  if (scope & UInteger(BarrierScope::Buffers))
    barrier();
}

void ComputeEncoder::memory_barrier_with_resources(Resource* const* /*resources*/, UInteger count) {
  if (records("memoryBarrierWithResources:count:") && count != 0)
    barrier();
}

void ComputeEncoder::update_fence(Fence* fence) { check_fence("updateFence:", fence); }
void ComputeEncoder::wait_for_fence(Fence* fence) { check_fence("waitForFence:", fence); }

void ComputeEncoder::use_resource(Resource* resource, UInteger /*usage*/) {
  if (!records("useResource:usage:"))
    return;
  if (!resource)
    return misused("useResource:usage:", "resource is null");
  buffer()->use(resource);
}

void ComputeEncoder::use_resources(Resource* const* resources, UInteger count, UInteger usage) {
  for (UInteger i = 0; i < count; ++i)
    use_resource(resources[i], usage);
}

void ComputeEncoder::use_heap(Heap* heap) {
  if (!records("useHeap:"))
    return;
  if (!heap)
    return misused("useHeap:", "heap is null");
  buffer()->keep(heap);
}

void ComputeEncoder::use_heaps(Heap* const* heaps, UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    use_heap(heaps[i]);
}

void ComputeEncoder::sample_counters_in_buffer(CounterSampleBuffer* samples, UInteger index,
                                               bool /*barrier: a sample always is one*/) {
  sample_counters("sampleCountersInBuffer:atSampleIndex:withBarrier:", samples, index);
}

void ComputeEncoder::execute_commands(IndirectCommandBuffer* commands, Range range) {
  constexpr char kMethod[] = "executeCommandsInBuffer:withRange:";
  if (!records(kMethod))
    return;
  if (!commands)
    return misused(kMethod, "indirectCommandBuffer is null");
  if (range.location > commands->size() || range.length > commands->size() - range.location)
    return misused(kMethod, "range {%llu, %llu} ends after the %llu commands",
                   Number(range.location), Number(range.length), Number(commands->size()));
  order();
  buffer()->use(commands);
  commands->record(list(), {pipeline_, {bindings_.data(), buffer_count_}}, range);
}

void ComputeEncoder::execute_commands_indirect(IndirectCommandBuffer* commands, Buffer* buffer,
                                               UInteger offset) {
  constexpr char kMethod[] = "executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:";
  if (!records(kMethod))
    return;
  if (!commands)
    return misused(kMethod, "indirectCommandBuffer is null");
  if (!check_range(kMethod, "indirectRangeBuffer", buffer, offset, 2 * sizeof(uint32_t)))
    return;
  if (offset % sizeof(uint32_t) != 0)
    return misused(kMethod, "indirectBufferOffset %llu is no multiple of 4", Number(offset));
  this->buffer()->use(buffer);
  this->buffer()->use(commands);
  order();
  commands->record(list(), {pipeline_, {bindings_.data(), buffer_count_}}, {},
                   reinterpret_cast<const uint32_t*>(buffer->address() + offset));
}

namespace {

void set_buffer_with_stride(ComputeEncoder* self, Buffer* buffer, UInteger offset, UInteger,
                            UInteger index) {
  self->set_buffer(buffer, offset, index);
}
void set_buffers_with_strides(ComputeEncoder* self, Buffer* const* buffers, const UInteger* offsets,
                              const UInteger*, Range range) {
  self->set_buffers(buffers, offsets, range);
}
void set_buffer_offset_with_stride(ComputeEncoder* self, UInteger offset, UInteger,
                                   UInteger index) {
  self->set_buffer_offset(offset, index);
}
void set_bytes_with_stride(ComputeEncoder* self, const void* bytes, UInteger length, UInteger,
                           UInteger index) {
  self->set_bytes(bytes, length, index);
}

// What a device that only computes does not have. Taking away (null) is fine.
void set_texture(ComputeEncoder* self, objc::Object* texture, UInteger) {
  self->refuse("setTexture:atIndex:", texture, "textures");
}
void set_textures(ComputeEncoder* self, objc::Object* const* textures, Range range) {
  for (UInteger i = 0; i < range.length; ++i)
    self->refuse("setTextures:withRange:", textures[i], "textures");
}
void set_sampler(ComputeEncoder* self, objc::Object* sampler, UInteger) {
  self->refuse("setSamplerState:atIndex:", sampler, "samplers");
}
void set_samplers(ComputeEncoder* self, objc::Object* const* samplers, Range range) {
  for (UInteger i = 0; i < range.length; ++i)
    self->refuse("setSamplerStates:withRange:", samplers[i], "samplers");
}
void set_sampler_clamped(ComputeEncoder* self, objc::Object* sampler, float, float, UInteger) {
  self->refuse("setSamplerState:lodMinClamp:lodMaxClamp:atIndex:", sampler, "samplers");
}
void set_samplers_clamped(ComputeEncoder* self, objc::Object* const* samplers, const float*,
                          const float*, Range range) {
  for (UInteger i = 0; i < range.length; ++i)
    self->refuse("setSamplerStates:lodMinClamps:lodMaxClamps:withRange:", samplers[i], "samplers");
}
void set_function_table(ComputeEncoder* self, objc::Object* table, UInteger) {
  self->refuse("setVisibleFunctionTable:atBufferIndex:", table, "function tables");
}
void set_function_tables(ComputeEncoder* self, objc::Object* const* tables, Range range) {
  for (UInteger i = 0; i < range.length; ++i)
    self->refuse("setVisibleFunctionTables:withBufferRange:", tables[i], "function tables");
}
void set_intersection_table(ComputeEncoder* self, objc::Object* table, UInteger) {
  self->refuse("setIntersectionFunctionTable:atBufferIndex:", table, "ray tracing");
}
void set_intersection_tables(ComputeEncoder* self, objc::Object* const* tables, Range range) {
  for (UInteger i = 0; i < range.length; ++i)
    self->refuse("setIntersectionFunctionTables:withBufferRange:", tables[i], "ray tracing");
}
void set_acceleration_structure(ComputeEncoder* self, objc::Object* structure, UInteger) {
  self->refuse("setAccelerationStructure:atBufferIndex:", structure, "ray tracing");
}
// Image blocks and stage-in regions have no effect on kernels that use neither, and kernels that
// use one do not compile for this device.
void set_imageblock(ComputeEncoder*, UInteger, UInteger) {}
void set_stage_in_region(ComputeEncoder*, Region) {}
void set_stage_in_region_indirect(ComputeEncoder*, Buffer*, UInteger) {}

} // namespace

void ComputeEncoder::refuse(const char* method, objc::Object* object, const char* what) {
  if (object && records(method))
    misused(method, "this device computes only: it has no %s", what);
}

using E = ComputeEncoder;

OBJC_DEFINE_CLASS(
    ComputeEncoder, "BSMComputeCommandEncoder", CommandEncoder,
    .methods =
        {
            objc::method<&E::dispatch_type>("dispatchType"),
            objc::method<&E::set_pipeline>("setComputePipelineState:"),
            objc::method<&E::set_buffer>("setBuffer:offset:atIndex:"),
            objc::method<&E::set_buffers>("setBuffers:offsets:withRange:"),
            objc::method<&E::set_buffer_offset>("setBufferOffset:atIndex:"),
            objc::method<&E::set_bytes>("setBytes:length:atIndex:"),
            objc::method<&set_buffer_with_stride>("setBuffer:offset:attributeStride:atIndex:"),
            objc::method<&set_buffers_with_strides>(
                "setBuffers:offsets:attributeStrides:withRange:"),
            objc::method<&set_buffer_offset_with_stride>(
                "setBufferOffset:attributeStride:atIndex:"),
            objc::method<&set_bytes_with_stride>("setBytes:length:attributeStride:atIndex:"),
            objc::method<&E::set_threadgroup_memory_length>("setThreadgroupMemoryLength:atIndex:"),
            objc::method<&E::dispatch_threadgroups>("dispatchThreadgroups:threadsPerThreadgroup:"),
            objc::method<&E::dispatch_threads>("dispatchThreads:threadsPerThreadgroup:"),
            objc::method<&E::dispatch_threadgroups_indirect>(
                "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:"
                "threadsPerThreadgroup:"),
            objc::method<&E::memory_barrier>("memoryBarrierWithScope:"),
            objc::method<&E::memory_barrier_with_resources>("memoryBarrierWithResources:count:"),
            objc::method<&E::update_fence>("updateFence:"),
            objc::method<&E::wait_for_fence>("waitForFence:"),
            objc::method<&E::use_resource>("useResource:usage:"),
            objc::method<&E::use_resources>("useResources:count:usage:"),
            objc::method<&E::use_heap>("useHeap:"),
            objc::method<&E::use_heaps>("useHeaps:count:"),
            objc::method<&E::sample_counters_in_buffer>(
                "sampleCountersInBuffer:atSampleIndex:withBarrier:"),
            objc::method<&E::execute_commands>("executeCommandsInBuffer:withRange:"),
            objc::method<&E::execute_commands_indirect>(
                "executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:"),
            objc::method<&set_texture>("setTexture:atIndex:"),
            objc::method<&set_textures>("setTextures:withRange:"),
            objc::method<&set_sampler>("setSamplerState:atIndex:"),
            objc::method<&set_samplers>("setSamplerStates:withRange:"),
            objc::method<&set_sampler_clamped>("setSamplerState:lodMinClamp:lodMaxClamp:atIndex:"),
            objc::method<&set_samplers_clamped>(
                "setSamplerStates:lodMinClamps:lodMaxClamps:withRange:"),
            objc::method<&set_function_table>("setVisibleFunctionTable:atBufferIndex:"),
            objc::method<&set_function_tables>("setVisibleFunctionTables:withBufferRange:"),
            objc::method<&set_intersection_table>("setIntersectionFunctionTable:atBufferIndex:"),
            objc::method<&set_intersection_tables>(
                "setIntersectionFunctionTables:withBufferRange:"),
            objc::method<&set_acceleration_structure>("setAccelerationStructure:atBufferIndex:"),
            objc::method<&set_imageblock>("setImageblockWidth:height:"),
            objc::method<&set_stage_in_region>("setStageInRegion:"),
            objc::method<&set_stage_in_region_indirect>(
                "setStageInRegionWithIndirectBuffer:indirectBufferOffset:"),
        },
    .protocols = {"MTLComputeCommandEncoder"});

} // namespace mtl
