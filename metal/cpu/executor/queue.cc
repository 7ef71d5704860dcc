#include "metal/cpu/executor/queue.h"

#include "metal/cpu/executor/queue_order.h"

namespace bessemer::metal::cpu {

Queue::Queue(Executor&) : order_(std::make_shared<QueueOrder>()) {}
Queue::~Queue() = default;

std::shared_ptr<Queue> Queue::create(Executor& executor) {
  return std::shared_ptr<Queue>(new Queue(executor));
}

void Queue::enqueue(const std::shared_ptr<CommandList>& list) { order_->enqueue(list); }
void Queue::commit(const std::shared_ptr<CommandList>& list) { order_->commit(list); }
void Queue::cancel(const std::shared_ptr<CommandList>& list) { order_->cancel(list); }

} // namespace bessemer::metal::cpu
