// The thread that calls clients' handlers, so that no worker ever runs foreign code.
#pragma once

#include <atomic>
#include <cstdint>
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
  void wake();

  std::mutex mutex_;
  std::deque<std::function<void()>> pending_;
  std::thread thread_;             // started by the first post
  std::atomic<uint32_t> posts_{0}; // futex word: grows with each post, and to stop
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> stopping_{false};
};

} // namespace bessemer::metal::cpu
