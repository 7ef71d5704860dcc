// MTLIndirectCommandBuffer and MTLIndirectComputeCommand: dispatches encoded once and run often.
// Their content is read when they run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/pipeline.h"
#include "metal/runtime/buffer.h"
#include "metal/runtime/resource.h"

namespace mtl {

class ComputePipelineState;
class IndirectCommandBufferDescriptor;
class IndirectComputeCommand;

class IndirectCommandBuffer : public Resource {
public:
  OBJC_CLASS(IndirectCommandBuffer, "BSMIndirectCommandBuffer");

  /// Null, with a message, for commands that draw and for more than 16,384 commands.
  static objc::Ref<IndirectCommandBuffer> create(Device* device,
                                                 IndirectCommandBufferDescriptor* descriptor,
                                                 UInteger count, ResourceOptions options);
  IndirectCommandBuffer(Device* device, IndirectCommandBufferDescriptor* descriptor, UInteger count,
                        ResourceOptions options);

  /// What one command does. `group` of 0: nothing.
  struct Command {
    std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline;
    UInteger most_threads = 0;
    std::vector<bessemer::metal::cpu::Binding> buffers;
    std::vector<uint32_t> threadgroup_lengths;
    bessemer::metal::cpu::Size3 grid; // threads
    bessemer::metal::cpu::Size3 group;
    bool barrier = false;
  };

  UInteger size() const { return commands_.size(); }
  ResourceID gpu_resource_id() const { return {reinterpret_cast<uint64_t>(this)}; }
  /// Autoreleased; null, with a message, past the end.
  IndirectComputeCommand* compute_command(UInteger index);
  void reset(Range range);

  bool inherits_pipeline() const { return inherits_pipeline_; }
  bool inherits_buffers() const { return inherits_buffers_; }
  UInteger max_buffers() const { return max_buffers_; }
  Command& command(UInteger index) { return commands_[index]; }

  /// What commands take from the encoder that runs them.
  struct Inherited {
    std::shared_ptr<bessemer::metal::cpu::Pipeline> pipeline;
    std::span<const bessemer::metal::cpu::Binding> buffers;
  };
  /// Has the list run the commands of `range`, which is within size(), as they are when it gets
  /// there. `indirect_range`, if not null, points to two numbers, location and length, that are
  /// read then instead; what is past the end is left out.
  void record(bessemer::metal::cpu::CommandList& list, Inherited inherited, Range range,
              const uint32_t* indirect_range = nullptr);

private:
  void expand(bessemer::metal::cpu::CommandList& list, const Inherited& inherited, Range range);

  struct Execution;
  static void expand_execution(bessemer::metal::cpu::CommandList& list, void* context);

  bool inherits_pipeline_;
  bool inherits_buffers_;
  UInteger max_buffers_;
  std::vector<Command> commands_;
};

class IndirectComputeCommand : public objc::Object {
public:
  OBJC_CLASS(IndirectComputeCommand, "BSMIndirectComputeCommand");

  IndirectComputeCommand(IndirectCommandBuffer* buffer, UInteger index)
      : buffer_(buffer), index_(index) {}

  void set_pipeline(ComputePipelineState* pipeline);
  void set_buffer(Buffer* buffer, UInteger offset, UInteger index);
  void set_threadgroup_memory_length(UInteger length, UInteger index);
  void dispatch_threadgroups(Size threadgroups, Size threads_per_threadgroup);
  void dispatch_threads(Size threads, Size threads_per_threadgroup);
  void set_barrier() { command().barrier = true; }
  void clear_barrier() { command().barrier = false; }
  void reset() { command() = {}; }

private:
  IndirectCommandBuffer::Command& command() { return buffer_->command(index_); }
  void set_grid(const char* where, Size threads, Size threads_per_threadgroup);

  objc::Ref<IndirectCommandBuffer> buffer_;
  UInteger index_;
};

} // namespace mtl
