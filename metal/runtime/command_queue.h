// MTLCommandQueue: command buffers run one after the other, in the order they were enqueued in.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/queue.h"
#include "metal/runtime/device_object.h"
#include "metal/runtime/log_state.h"

namespace mtl {

class CommandBuffer;
class CommandBufferDescriptor;
class ResidencySet;

class CommandQueue : public DeviceObject {
public:
  OBJC_CLASS(CommandQueue, "BSMCommandQueue");

  CommandQueue(Device* device, UInteger max_command_buffer_count, objc::Ref<LogState> log_state);
  ~CommandQueue();

  // All autoreleased. While max_command_buffer_count command buffers are committed and not
  // completed they wait for the oldest, but not in a handler, where that might be for ever.
  CommandBuffer* command_buffer();
  CommandBuffer* command_buffer_unretained();
  CommandBuffer* command_buffer_with_descriptor(CommandBufferDescriptor* descriptor);

  void add_residency_set(ResidencySet* set);
  void remove_residency_set(ResidencySet* set);

  // For CommandBuffer.
  bessemer::metal::cpu::Queue& executor_queue() { return *queue_; }
  /// A list to record into, used before or new.
  std::shared_ptr<bessemer::metal::cpu::CommandList> take_list();
  /// Takes back a list that has completed or was never enqueued.
  void give_list(std::shared_ptr<bessemer::metal::cpu::CommandList> list);
  void committed(const std::shared_ptr<bessemer::metal::cpu::CommandList>& list);

private:
  void wait_for_room();
  void forget_completed();

  std::shared_ptr<bessemer::metal::cpu::Queue> queue_;
  UInteger max_command_buffer_count_;
  objc::Ref<LogState> log_state_;
  std::mutex mutex_;
  // Oldest first; those in front may have completed. Weak: a list that its command buffer and the
  // executor are done with must not keep the resources it used.
  std::deque<std::weak_ptr<bessemer::metal::cpu::CommandList>> in_flight_;
  std::vector<std::shared_ptr<bessemer::metal::cpu::CommandList>> idle_;
  std::vector<objc::Ref<ResidencySet>> residency_sets_;
};

} // namespace mtl
