// The threads that call clients' handlers, so that no worker ever runs foreign code.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bessemer::metal::cpu {

// The notifications of one source (a queue, a timeline): called one at a time, in the order in
// which they were posted. A handler that blocks holds up its own lane only.
class NotificationLane {
public:
  NotificationLane() = default;
  ~NotificationLane();
  NotificationLane(const NotificationLane&) = delete;
  NotificationLane& operator=(const NotificationLane&) = delete;

private:
  friend class Notifier;
  struct Notification {
    std::function<void()> work;
    Notification* next = nullptr;
  };

  // All under the notifier's lock.
  Notification* first_ = nullptr;
  Notification* last_ = nullptr;
  bool ready_ = false;   // in the notifier's list
  bool running_ = false; // a thread is in a handler
};

// Thread safe.
class Notifier {
public:
  Notifier() : common_(std::make_shared<NotificationLane>()) {}
  // Calls what was posted, then ends.
  ~Notifier();

  // Calls `work` on a notification thread, behind what is in the lane. Without `wake` it may lie
  // there until somebody calls `wake`, posts or calls `run_one`.
  void post(const std::shared_ptr<NotificationLane>& lane, std::function<void()> work,
            bool wake = true);
  // In a lane that everybody shares.
  void post(std::function<void()> work) { post(common_, std::move(work)); }
  void wake();

  // For a thread that waits for the lane anyway: calls its first notification here, unless there is
  // none or another thread is in one.
  bool run_one(const std::shared_ptr<NotificationLane>& lane);

private:
  void run();
  void make_ready(const std::shared_ptr<NotificationLane>& lane);
  void start_or_wake_thread(std::unique_lock<std::mutex>& lock);
  void call_first(std::shared_ptr<NotificationLane> lane, std::unique_lock<std::mutex>& lock);

  std::shared_ptr<NotificationLane> common_;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<std::shared_ptr<NotificationLane>> ready_;
  unsigned idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_; // started as they are needed
};

} // namespace bessemer::metal::cpu
