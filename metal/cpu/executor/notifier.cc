#include "metal/cpu/executor/notifier.h"

#include <pthread.h>

namespace bessemer::metal::cpu {

Notifier::~Notifier() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (!thread_.joinable())
      return;
  }
  wakeup_.notify_one();
  thread_.join();
}

void Notifier::post(std::function<void()> work) {
  bool was_empty;
  {
    std::lock_guard lock(mutex_);
    was_empty = pending_.empty();
    pending_.push_back(std::move(work));
    if (!thread_.joinable())
      thread_ = std::thread([this] { run(); });
  }
  if (was_empty)
    wakeup_.notify_one();
}

void Notifier::run() {
  pthread_setname_np(pthread_self(), "bessemer-notify");
  std::unique_lock lock(mutex_);
  for (;;) {
    wakeup_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    if (pending_.empty())
      return;
    std::deque<std::function<void()>> batch;
    batch.swap(pending_);
    lock.unlock();
    while (!batch.empty()) {
      // Taken out first: what the handler holds goes when it has returned, not with the batch.
      std::function<void()> work = std::move(batch.front());
      batch.pop_front();
      work();
    }
    lock.lock();
  }
}

} // namespace bessemer::metal::cpu
