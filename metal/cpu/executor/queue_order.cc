#include "metal/cpu/executor/queue_order.h"

#include "metal/cpu/executor/commit_habit.h"

namespace bessemer::metal::cpu {

static std::atomic<WorkOwner> owners{kNoOwner};

QueueOrder::QueueOrder() : owner_(owners.fetch_add(1, std::memory_order_relaxed) + 1) {}

void QueueOrder::append(ListExecution& execution, const std::shared_ptr<CommandList>& list) {
  execution.place.queue = shared_from_this();
  execution.place.list = list;
  execution.place.next = nullptr;
  execution.place.committed = false;
  execution.set_source(owner_, lane_);
  (last_ ? last_->place.next : first_) = &execution;
  last_ = &execution;
  list->state_.store(ListState::Enqueued, std::memory_order_release);
}

ListExecution* QueueOrder::next_to_start() {
  if (running_ || !first_ || !first_->place.committed)
    return nullptr;
  running_ = true;
  return first_;
}

void QueueOrder::enqueue(const std::shared_ptr<CommandList>& list) {
  std::lock_guard lock(mutex_);
  if (list->state() == ListState::Recording)
    append(*list->execution_, list);
}

void QueueOrder::commit(const std::shared_ptr<CommandList>& list) {
  const bool will_wait = CommitHabit::commit();
  ListExecution* next;
  {
    std::lock_guard lock(mutex_);
    ListExecution& execution = *list->execution_;
    if (list->state() == ListState::Recording)
      append(execution, list);
    if (list->state() != ListState::Enqueued)
      return;
    execution.place.committed = true;
    list->state_.store(ListState::Committed, std::memory_order_release);
    execution.announce_signals();
    next = next_to_start();
  }
  if (next)
    next->start(will_wait ? ListExecution::Starter::ClientThatWaits
                          : ListExecution::Starter::Client);
}

void QueueOrder::cancel(const std::shared_ptr<CommandList>& list) {
  ListExecution* next;
  std::shared_ptr<QueueOrder> keep = shared_from_this();
  {
    std::lock_guard lock(mutex_);
    if (list->state() != ListState::Enqueued)
      return;
    ListExecution& execution = *list->execution_;
    ListExecution* before = nullptr;
    for (ListExecution* other = first_; other != &execution; other = other->place.next)
      before = other;
    (before ? before->place.next : first_) = execution.place.next;
    if (last_ == &execution)
      last_ = before;
    list->state_.store(ListState::Recording, std::memory_order_release);
    execution.place = {};
    next = next_to_start();
  }
  if (next)
    next->start(ListExecution::Starter::Client);
}

void QueueOrder::remove(ListExecution& execution) {
  std::lock_guard lock(mutex_);
  first_ = execution.place.next;
  if (!first_)
    last_ = nullptr;
}

void QueueOrder::go_on() {
  ListExecution* next;
  {
    std::lock_guard lock(mutex_);
    running_ = false;
    next = next_to_start();
  }
  if (next)
    next->start(ListExecution::Starter::Worker);
}

} // namespace bessemer::metal::cpu
