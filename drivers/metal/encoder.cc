#include "drivers/metal/encoder.h"

#include <algorithm>

namespace bessemer::metal_driver {

MTL::ComputeCommandEncoder* Encoder::Compute() {
  if (compute_) {
    if (std::exchange(barrier_pending_, false))
      compute_->memoryBarrier(MTL::BarrierScopeBuffers);
    return compute_;
  }
  End();
  compute_ = command_buffer_->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  if (!std::exchange(is_first_, false))
    compute_->waitForFence(fence_);
  Open(compute_);
  return compute_;
}

MTL::ComputeCommandEncoder* Encoder::NewCompute(MTL::ComputePassDescriptor* pass) {
  End();
  pass->setDispatchType(MTL::DispatchTypeConcurrent);
  compute_ = command_buffer_->computeCommandEncoder(pass);
  if (!std::exchange(is_first_, false))
    compute_->waitForFence(fence_);
  Open(compute_);
  return compute_;
}

MTL::BlitCommandEncoder* Encoder::Blit() {
  // A blit encoder has no barriers within.
  if (blit_ && !barrier_pending_)
    return blit_;
  End();
  blit_ = command_buffer_->blitCommandEncoder();
  if (!std::exchange(is_first_, false))
    blit_->waitForFence(fence_);
  Open(blit_);
  return blit_;
}

void Encoder::Open(MTL::CommandEncoder* encoder) {
  // The fence that it waits for is behind everything before.
  barrier_pending_ = false;
  for (const std::string& group : groups_)
    encoder->pushDebugGroup(ToNSString(group));
}

void Encoder::End() {
  MTL::CommandEncoder* encoder = compute_ ? static_cast<MTL::CommandEncoder*>(compute_) : blit_;
  if (!encoder)
    return;
  for (size_t i = 0; i < groups_.size(); ++i)
    encoder->popDebugGroup();
  if (compute_)
    compute_->updateFence(fence_);
  else
    blit_->updateFence(fence_);
  encoder->endEncoding();
  compute_ = nullptr;
  blit_ = nullptr;
  pipeline_ = nullptr;
  arguments_ = nullptr;
  used_.clear();
}

void Encoder::Use(MTL::Buffer* buffer) {
  if (!uses_resources_ || std::find(used_.begin(), used_.end(), buffer) != used_.end())
    return;
  used_.push_back(buffer);
  compute_->useResource(buffer, MTL::ResourceUsageRead | MTL::ResourceUsageWrite);
}

void Encoder::PushDebugGroup(std::string_view label) {
  groups_.emplace_back(label);
  if (compute_)
    compute_->pushDebugGroup(ToNSString(label));
  else if (blit_)
    blit_->pushDebugGroup(ToNSString(label));
}

void Encoder::PopDebugGroup() {
  if (groups_.empty())
    return;
  groups_.pop_back();
  if (compute_)
    compute_->popDebugGroup();
  else if (blit_)
    blit_->popDebugGroup();
}

} // namespace bessemer::metal_driver
