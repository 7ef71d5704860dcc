// The thread that calls clients' handlers, so that no worker ever runs foreign code.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace bessemer::metal::cpu {

class Notifier {
public:
  Notifier() = default;
  // Runs what was posted, then ends.
  ~Notifier();

  // Runs `work` on the notification thread, after all that was posted before.
  void post(std::function<void()> work);

private:
  void run();

  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<std::function<void()>> pending_;
  bool stopping_ = false;
  std::thread thread_; // started by the first post
};

} // namespace bessemer::metal::cpu
