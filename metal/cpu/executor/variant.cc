#include "metal/cpu/executor/variant.h"

#include <bit>

namespace bessemer::metal::cpu {

// What a damaged or wrong table could ask for is bounded here, before memory is reserved for it.
static constexpr uint32_t kMostThreadgroupBytes = 1 << 20;
static constexpr uint64_t kMostFrameBytes = uint64_t{1} << 30;

std::string Variant::describe() const {
  std::string text = "kernel '" + std::string(kernel_name_) + "'";
  if (!any_size())
    text += " for " + std::to_string(threads_.x) + "x" + std::to_string(threads_.y) + "x" +
            std::to_string(threads_.z) + " threads";
  return text;
}

bool Variant::add_waiter(Waiter* waiter) {
  std::lock_guard lock(mutex_);
  if (state_.load(std::memory_order_relaxed) != State::Compiling)
    return false;
  waiter->next_ = waiters_;
  waiters_ = waiter;
  return true;
}

Expected<void> Variant::load(const metal::Kernel& kernel) {
  const Size3 compiled = {kernel.threads_x(), kernel.threads_y(), kernel.threads_z()};
  if (compiled != threads_)
    return failure("the code is for another threadgroup size");
  if (kernel.needs_distinct_buffers() && !distinct_buffers_)
    return failure("the code is for buffers that do not overlap");
  if (kernel.threadgroup_bytes() > kMostThreadgroupBytes ||
      kernel.frame_bytes() > kMostFrameBytes || !std::has_single_bit(kernel.frame_alignment()) ||
      kernel.frame_alignment() > 4096)
    return failure("the code asks for too much memory");
  Expected<LoadedObject> object =
      LoadedObject::load({kernel.object()->data(), kernel.object()->size()},
                         kernel.entry()->string_view(), kernel_name_);
  if (!object)
    return std::unexpected(std::move(object.error()));
  object_ = std::move(*object);
  entry_ = reinterpret_cast<bessemer_kernel_entry_t>(object_.entry());
  threadgroup_bytes_ = kernel.threadgroup_bytes();
  used_buffers_ = kernel.used_buffers();
  flush_denormals_ = kernel.flush_denormals();
  needs_distinct_buffers_ = kernel.needs_distinct_buffers();
  frame_bytes_ = kernel.frame_bytes();
  frame_alignment_ = kernel.frame_alignment();
  return {};
}

void Variant::finish(const Expected<KernelTable>& kernel) {
  Expected<void> loaded = kernel ? load(**kernel) : Expected<void>(std::unexpected(kernel.error()));
  if (!loaded)
    message_ = describe() + ": " + loaded.error().message;
  Waiter* waiters;
  {
    std::lock_guard lock(mutex_);
    state_.store(loaded ? State::Ready : State::Failed, std::memory_order_release);
    waiters = std::exchange(waiters_, nullptr);
  }
  while (waiters) {
    Waiter* next = waiters->next_; // the waiter may be gone once it has been called
    waiters->compiled(waiters);
    waiters = next;
  }
}

} // namespace bessemer::metal::cpu
