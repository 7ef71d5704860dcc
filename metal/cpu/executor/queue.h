// Runs command lists one after the other, in the order in which they were enqueued.
#pragma once

#include <memory>

#include "metal/cpu/executor/command_list.h"

namespace bessemer::metal::cpu {

class Executor;
class QueueOrder;

// Thread safe. A queue that waits (for a timeline, a compile) holds up no other queue.
class Queue {
public:
  static std::shared_ptr<Queue> create(Executor& executor);
  ~Queue();

  // Takes a place in the order. The queue stays behind a list that is enqueued and not committed.
  void enqueue(const std::shared_ptr<CommandList>& list);
  // Lets the list run when its turn comes; enqueues it when that was not done. Runs nothing itself.
  void commit(const std::shared_ptr<CommandList>& list);
  // Takes a list that was enqueued and never committed out of the order.
  void cancel(const std::shared_ptr<CommandList>& list);

private:
  explicit Queue(Executor& executor);
  std::shared_ptr<QueueOrder> order_; // lives as long as lists are in it
};

} // namespace bessemer::metal::cpu
