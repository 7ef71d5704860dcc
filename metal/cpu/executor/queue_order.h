// The order of a queue: lists that have a place, and which one runs.
#pragma once

#include <memory>
#include <mutex>

#include "metal/cpu/executor/list_execution.h"
#include "metal/cpu/executor/notifier.h"

namespace bessemer::metal::cpu {

class QueueOrder : public std::enable_shared_from_this<QueueOrder> {
public:
  QueueOrder();

  void enqueue(const std::shared_ptr<CommandList>& list);
  void commit(const std::shared_ptr<CommandList>& list);
  void cancel(const std::shared_ptr<CommandList>& list);
  // `execution` was running and is done: it has no place any more. The next one starts with
  // `go_on`, so that what must happen before can be done between the two.
  void remove(ListExecution& execution);
  void go_on();

private:
  void append(ListExecution& execution, const std::shared_ptr<CommandList>& list);
  // Under the lock: the list that may start now, if there is one.
  ListExecution* next_to_start();

  const WorkOwner owner_;
  const std::shared_ptr<NotificationLane> lane_ = std::make_shared<NotificationLane>();
  std::mutex mutex_;
  ListExecution* first_ = nullptr; // the one that runs, if any does
  ListExecution* last_ = nullptr;
  bool running_ = false;
};

} // namespace bessemer::metal::cpu
