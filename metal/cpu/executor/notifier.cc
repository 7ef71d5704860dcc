#include "metal/cpu/executor/notifier.h"

#include <algorithm>
#include <pthread.h>

namespace bessemer::metal::cpu {

// Each can be in a handler that blocks; a client that blocks more of them at a time waits.
static constexpr size_t kMostThreads = 64;

NotificationLane::~NotificationLane() {
  while (Notification* notification = first_) {
    first_ = notification->next;
    delete notification;
  }
}

Notifier::~Notifier() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakeup_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void Notifier::make_ready(const std::shared_ptr<NotificationLane>& lane) {
  if (lane->ready_ || lane->running_ || !lane->first_)
    return;
  lane->ready_ = true;
  ready_.push_back(lane);
}

void Notifier::start_or_wake_thread(std::unique_lock<std::mutex>& lock) {
  const bool start = idle_ == 0 && threads_.size() < kMostThreads && !ready_.empty();
  if (start)
    threads_.emplace_back([this] { run(); });
  lock.unlock();
  if (!start)
    wakeup_.notify_one();
}

void Notifier::post(const std::shared_ptr<NotificationLane>& lane, std::function<void()> work,
                    bool wake) {
  auto* notification = new NotificationLane::Notification{std::move(work)};
  std::unique_lock lock(mutex_);
  (lane->last_ ? lane->last_->next : lane->first_) = notification;
  lane->last_ = notification;
  make_ready(lane);
  if (wake)
    start_or_wake_thread(lock);
}

void Notifier::wake() {
  std::unique_lock lock(mutex_);
  if (!ready_.empty())
    start_or_wake_thread(lock);
}

// By value: the caller's may be an element of ready_.
void Notifier::call_first(std::shared_ptr<NotificationLane> lane,
                          std::unique_lock<std::mutex>& lock) {
  lane->ready_ = false;
  lane->running_ = true;
  NotificationLane::Notification* notification = lane->first_;
  lane->first_ = notification->next;
  if (!lane->first_)
    lane->last_ = nullptr;
  lock.unlock();
  notification->work();
  delete notification; // what the handler holds goes outside the lock
  lock.lock();
  lane->running_ = false;
  make_ready(lane);
}

bool Notifier::run_one(const std::shared_ptr<NotificationLane>& lane) {
  std::unique_lock lock(mutex_);
  if (!lane->ready_)
    return false;
  ready_.erase(std::ranges::find(ready_, lane));
  call_first(lane, lock);
  // This thread may not come again.
  if (lane->ready_)
    start_or_wake_thread(lock);
  return true;
}

void Notifier::run() {
  pthread_setname_np(pthread_self(), "bessemer-notify");
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wakeup_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    --idle_;
    if (ready_.empty())
      return;
    std::shared_ptr<NotificationLane> lane = std::move(ready_.front());
    ready_.pop_front();
    call_first(std::move(lane), lock);
  }
}

} // namespace bessemer::metal::cpu
