// MTLComputeCommandEncoder.
#pragma once

#include <array>
#include <memory>

#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/pipeline.h"
#include "metal/runtime/buffer.h"
#include "metal/runtime/command_encoder.h"

namespace mtl {

class ComputePipelineState;
class IndirectCommandBuffer;

class ComputeEncoder : public CommandEncoder {
public:
  OBJC_CLASS(ComputeEncoder, "BSMComputeCommandEncoder");

  ComputeEncoder(CommandBuffer* buffer, DispatchType type, SampleBufferAttachmentArray* samples);

  DispatchType dispatch_type() const { return type_; }
  void set_pipeline(ComputePipelineState* pipeline);

  // Bindings stay until they are replaced. Null takes a binding away.
  void set_buffer(Buffer* buffer, UInteger offset, UInteger index);
  void set_buffers(Buffer* const* buffers, const UInteger* offsets, Range range);
  void set_buffer_offset(UInteger offset, UInteger index);
  /// Copies at most 4 KiB.
  void set_bytes(const void* bytes, UInteger length, UInteger index);
  void set_threadgroup_memory_length(UInteger length, UInteger index);

  void dispatch_threadgroups(Size threadgroups, Size threads_per_threadgroup);
  void dispatch_threads(Size threads, Size threads_per_threadgroup);
  /// Three 32-bit counts of threadgroups are read when the dispatch runs.
  void dispatch_threadgroups_indirect(Buffer* buffer, UInteger offset,
                                      Size threads_per_threadgroup);

  void memory_barrier(UInteger scope);
  void memory_barrier_with_resources(Resource* const* resources, UInteger count);
  void update_fence(Fence* fence);
  void wait_for_fence(Fence* fence);
  void use_resource(Resource* resource, UInteger usage);
  void use_resources(Resource* const* resources, UInteger count, UInteger usage);
  void use_heap(Heap* heap);
  void use_heaps(Heap* const* heaps, UInteger count);
  void sample_counters_in_buffer(CounterSampleBuffer* samples, UInteger index, bool barrier);

  void execute_commands(IndirectCommandBuffer* commands, Range range);
  /// The range is two 32-bit numbers in `buffer`, location and length.
  void execute_commands_indirect(IndirectCommandBuffer* commands, Buffer* buffer, UInteger offset);

  /// For methods that would set an object (if not null) of a kind that this device does not have.
  void refuse(const char* method, objc::Object* object, const char* what);

private:
  bool check_index(const char* method, UInteger index);
  /// Checks what is bound against the pipeline and fills in all of the dispatch but the grid.
  bool prepare(const char* method, Size threads_per_threadgroup,
               bessemer::metal::cpu::Dispatch* dispatch);
  void bind(const bessemer::metal::cpu::Binding& binding, UInteger index) {
    bindings_[index] = binding;
    bound_ |= 1u << index;
    changed_ |= 1u << index;
    if (index >= buffer_count_)
      buffer_count_ = static_cast<uint32_t>(index) + 1;
  }
  /// In a serial encoder a dispatch sees what those before it wrote.
  void order() {
    if (type_ == DispatchType::Serial)
      list().barrier();
  }

  DispatchType type_;
  uint32_t bound_ = 0;        // bit n: [[buffer(n)]] is bound
  uint32_t buffers_ = 0;      // and it is to a buffer
  uint32_t changed_ = ~0u;    // and it was since the last dispatch
  uint32_t buffer_count_ = 0; // highest bound index so far, plus 1
  uint32_t threadgroup_count_ = 0;
  uint32_t threadgroup_bytes_ = 0;
  uint32_t most_threads_ = 0; // of the pipeline
  std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline_;
  std::array<bessemer::metal::cpu::Binding, kMaxBufferBindings> bindings_;
  std::array<UInteger, kMaxBufferBindings> offsets_{}; // of bindings_ in their buffers
  std::array<uint32_t, kMaxThreadgroupMemoryBindings> threadgroup_lengths_{};
};

} // namespace mtl
