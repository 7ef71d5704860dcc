// A 64-bit value that only grows: what MTLEvent and MTLSharedEvent are on this device.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace bessemer::metal::cpu {

class Executor;

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

  // Blocks until the value is reached.
  void wait(uint64_t value);
  // False when the time passed first.
  bool wait_for(uint64_t value, std::chrono::nanoseconds timeout);

  // True: `waiter` will be called. False: the value is reached already, it will not be.
  bool add_waiter(Waiter* waiter);

private:
  explicit Timeline(Executor& executor, uint64_t initial_value)
      : executor_(executor), value_(initial_value) {}

  Executor& executor_;
  std::atomic<uint64_t> value_;
  std::atomic<uint32_t> wakeups_{0}; // futex word of the threads that sleep in wait
  std::atomic<uint32_t> sleepers_{0};
  std::mutex mutex_;
  Waiter* first_ = nullptr; // sorted by value
};

} // namespace bessemer::metal::cpu
