// A 64-bit value that only grows: what MTLEvent and MTLSharedEvent are on this device.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "metal/cpu/executor/worker_pool.h"

namespace bessemer::metal::cpu {

class Executor;
class NotificationLane;

class Timeline {
public:
  // Something that waits for a value without a thread; owned by whoever waits. Called once, on the
  // thread that signals, outside the timeline's lock; must be quick and must not block.
  struct Waiter {
    uint64_t value = 0;
    void (*reached)(Waiter* self) = nullptr;

  private:
    friend class Timeline;
    Waiter* previous_ = nullptr;
    Waiter* next_ = nullptr;
  };

  static std::shared_ptr<Timeline> create(Executor& executor, uint64_t initial_value = 0);
  ~Timeline();

  uint64_t value() const { return value_.load(std::memory_order_acquire); }

  // Raises the value to at least `value`; a lower one changes nothing. Any thread.
  void signal(uint64_t value);

  // Calls `listener` on the notification thread once the value is reached, with the value then; at
  // once (also there) when it is already.
  void notify(uint64_t value, std::function<void(uint64_t value)> listener);

  // Blocks until the value is reached. This thread may run kernels of the queue that will signal
  // it.
  void wait(uint64_t value);
  // False when the time passed first.
  bool wait_for(uint64_t value, std::chrono::nanoseconds timeout);

  // True: `waiter` will be called. False: the value is reached already, it will not be.
  bool add_waiter(Waiter* waiter);

  // A committed list of the queue `owner` will signal `value`.
  void expect(uint64_t value, WorkOwner owner);
  // True in a thread that helps from within `wait`, once what it waits for is there.
  static bool wait_of_this_thread_is_over();

private:
  Timeline(Executor& executor, uint64_t initial_value);

  Executor& executor_;
  std::atomic<uint64_t> value_;
  std::atomic<uint32_t> wakeups_{0}; // futex word of the threads that sleep in wait
  std::atomic<uint32_t> sleepers_{0};
  std::shared_ptr<NotificationLane> lane_;
  std::mutex mutex_;
  uint64_t expected_value_ = 0; // by the queue that announced last
  WorkOwner expected_from_ = kNoOwner;
  Waiter* first_ = nullptr; // sorted by value
};

} // namespace bessemer::metal::cpu
