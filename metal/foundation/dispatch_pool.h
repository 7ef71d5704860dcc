// The threads that run what dispatch queues are given.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <queue>

namespace ns {

/// A function and what it is called with: what Dispatch calls a work item.
struct Work {
  void (*function)(void* context);
  void* context;
};

/// Threads start as they are needed, since work may block on other work, up to a limit; one that
/// has nothing to do for a while ends. Never destroyed.
class DispatchPool {
public:
  static DispatchPool& shared();

  void run(Work work);
  void run_at(std::chrono::steady_clock::time_point when, Work work);

private:
  static constexpr unsigned kMostThreads = 64; // as libdispatch's pool

  struct Timed {
    std::chrono::steady_clock::time_point when;
    Work work;
    bool operator>(const Timed& other) const { return when > other.when; }
  };

  void work_loop();
  void timer_loop();

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<Work> work_;
  unsigned idle_ = 0;
  unsigned threads_ = 0;

  std::condition_variable timer_changed_;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> timed_;
  bool has_timer_thread_ = false;
};

} // namespace ns
