// The encoders of one Metal command buffer, opened as they are needed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "drivers/metal/buffer.h"
#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

/// Commands in one encoder run in any order, except across a barrier. Encoders run one after
/// another.
class Encoder {
public:
  /// `uses_resources`: resources that are reached through pointers must be named.
  Encoder(MTL::CommandBuffer* command_buffer, MTL::Fence* fence, bool uses_resources)
      : command_buffer_(command_buffer), fence_(fence), uses_resources_(uses_resources) {}
  ~Encoder() { End(); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// Behind all barriers so far. Valid until the other kind is asked for or the encoder ends.
  MTL::ComputeCommandEncoder* Compute();
  MTL::BlitCommandEncoder* Blit();

  /// An encoder of its own for what follows until End, as `pass` says.
  MTL::ComputeCommandEncoder* NewCompute(MTL::ComputePassDescriptor* pass);

  /// What comes later sees the effects of what came before. Free until something comes later.
  void Barrier() { barrier_pending_ = true; }
  /// For the present compute encoder, which keeps its state from one dispatch to the next.
  void SetPipeline(MTL::ComputePipelineState* state) {
    if (std::exchange(pipeline_, state) != state)
      compute_->setComputePipelineState(state);
  }
  void SetArguments(MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
    if (std::exchange(arguments_, buffer) == buffer)
      compute_->setBufferOffset(offset, index);
    else
      compute_->setBuffer(buffer, offset, index);
  }
  /// A buffer was bound at the arguments' index by other means.
  void ForgetArguments() { arguments_ = nullptr; }

  /// Tells the present compute encoder of a resource that kernels reach through a pointer.
  void Use(MTL::Buffer* buffer);
  /// Closes the open encoder, as commands of the command buffer itself need.
  void End();

  void PushDebugGroup(std::string_view label);
  void PopDebugGroup();

  MTL::CommandBuffer* command_buffer() const { return command_buffer_; }

private:
  void Open(MTL::CommandEncoder* encoder);

  MTL::CommandBuffer* command_buffer_;
  MTL::Fence* fence_;
  MTL::ComputeCommandEncoder* compute_ = nullptr;
  MTL::BlitCommandEncoder* blit_ = nullptr;
  MTL::ComputePipelineState* pipeline_ = nullptr;
  MTL::Buffer* arguments_ = nullptr;
  std::vector<std::string> groups_;
  std::vector<MTL::Buffer*> used_;
  bool uses_resources_;
  bool is_first_ = true;
  bool barrier_pending_ = false;
};

} // namespace bessemer::metal_driver
