#include "hal/base/timer_queue.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace bessemer::hal {
namespace {

class TimerQueue {
public:
  // Lives as long as the process, so that timers may be used while statics are destroyed.
  static TimerQueue& Get() {
    static auto* queue = new TimerQueue;
    return *queue;
  }

  TimerId Schedule(iree_time_t deadline_ns, void (*fn)(void*), void* user_data) {
    std::lock_guard lock(mutex_);
    TimerId id = ++last_id_;
    if (deadline_ns == IREE_TIME_INFINITE_FUTURE)
      return id;
    if (!std::exchange(running_, true))
      std::thread([this] { Run(); }).detach();
    bool is_first = timers_.empty() || Key{deadline_ns, id} < timers_.begin()->first;
    timers_.emplace(Key{deadline_ns, id}, Callback{fn, user_data});
    deadlines_.emplace(id, deadline_ns);
    if (is_first)
      changed_.notify_one();
    return id;
  }

  bool Cancel(TimerId id) {
    std::lock_guard lock(mutex_);
    auto found = deadlines_.find(id);
    if (found == deadlines_.end())
      return false;
    timers_.erase({found->second, id});
    deadlines_.erase(found);
    return true;
  }

private:
  using Key = std::pair<iree_time_t, TimerId>;
  struct Callback {
    void (*fn)(void*);
    void* user_data;
  };

  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (timers_.empty()) {
        changed_.wait(lock);
        continue;
      }
      auto [deadline, id] = timers_.begin()->first;
      if (iree_duration_t left = iree_absolute_deadline_to_timeout_ns(deadline)) {
        changed_.wait_for(lock, std::chrono::nanoseconds(left));
        continue;
      }
      Callback callback = timers_.begin()->second;
      timers_.erase(timers_.begin());
      deadlines_.erase(id);
      lock.unlock();
      callback.fn(callback.user_data);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Callback> timers_;
  std::map<TimerId, iree_time_t> deadlines_;
  TimerId last_id_ = 0;
  bool running_ = false;
};

} // namespace

TimerId ScheduleTimer(iree_time_t deadline_ns, void (*fn)(void*), void* user_data) {
  return TimerQueue::Get().Schedule(deadline_ns, fn, user_data);
}

bool CancelTimer(TimerId id) { return TimerQueue::Get().Cancel(id); }

} // namespace bessemer::hal
