#include "metal/foundation/dispatch_pool.h"

#include <thread>

#include "metal/objc/object.h"

namespace ns {

DispatchPool& DispatchPool::shared() {
  static auto& pool = *new DispatchPool;
  return pool;
}

void DispatchPool::run(Work work) {
  std::lock_guard lock(mutex_);
  work_.push_back(work);
  if (idle_ >= work_.size()) {
    has_work_.notify_one();
  } else if (threads_ < kMostThreads) {
    ++threads_;
    std::thread([this] { work_loop(); }).detach();
  }
}

void DispatchPool::work_loop() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    bool found = has_work_.wait_for(lock, 5s, [this] { return !work_.empty(); });
    --idle_;
    if (!found) {
      --threads_;
      return;
    }
    Work work = work_.front();
    work_.pop_front();
    lock.unlock();
    {
      objc::AutoreleaseScope scope;
      work.function(work.context);
    }
    lock.lock();
  }
}

void DispatchPool::run_at(std::chrono::steady_clock::time_point when, Work work) {
  std::lock_guard lock(mutex_);
  timed_.push({when, work});
  if (!has_timer_thread_) {
    has_timer_thread_ = true;
    std::thread([this] { timer_loop(); }).detach();
  }
  timer_changed_.notify_one();
}

void DispatchPool::timer_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (timed_.empty()) {
      timer_changed_.wait(lock);
      continue;
    }
    auto when = timed_.top().when;
    if (std::chrono::steady_clock::now() < when) {
      timer_changed_.wait_until(lock, when);
      continue;
    }
    Work work = timed_.top().work;
    timed_.pop();
    lock.unlock();
    run(work);
    lock.lock();
  }
}

} // namespace ns
