#include "metal/cpu/executor/timeline.h"

#include "metal/cpu/executor/commit_habit.h"
#include "metal/cpu/executor/executor.h"
#include "metal/cpu/executor/futex.h"
#include "metal/cpu/executor/notifier.h"
#include "metal/cpu/executor/worker_pool.h"

namespace bessemer::metal::cpu {

namespace {

struct Listener : Timeline::Waiter {
  Executor* executor;
  const Timeline* timeline;
  std::shared_ptr<NotificationLane> lane;
  std::function<void(uint64_t)> listener;

  static void reached_value(Timeline::Waiter* self) {
    std::unique_ptr<Listener> owned(static_cast<Listener*>(self));
    owned->executor->notifier().post(owned->lane,
                                     [listener = std::move(owned->listener),
                                      value = owned->timeline->value()] { listener(value); });
  }
};

} // namespace

Timeline::Timeline(Executor& executor, uint64_t initial_value)
    : executor_(executor), value_(initial_value), lane_(std::make_shared<NotificationLane>()) {}

std::shared_ptr<Timeline> Timeline::create(Executor& executor, uint64_t initial_value) {
  return std::shared_ptr<Timeline>(new Timeline(executor, initial_value));
}

Timeline::~Timeline() {
  // Lists that wait keep their timeline, so only listeners can be left.
  while (Waiter* waiter = first_) {
    first_ = waiter->next_;
    delete static_cast<Listener*>(waiter);
  }
}

void Timeline::signal(uint64_t value) {
  Waiter* due = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (value <= value_.load(std::memory_order_relaxed))
      return;
    value_.store(value);
    Waiter* last = nullptr;
    for (Waiter* waiter = first_; waiter && waiter->value <= value; waiter = waiter->next_)
      last = waiter;
    if (last) {
      due = first_;
      first_ = last->next_;
      if (first_)
        first_->previous_ = nullptr;
      last->next_ = nullptr;
    }
  }
  if (sleepers_.load() != 0) {
    wakeups_.fetch_add(1);
    futex_wake_all(wakeups_);
  }
  while (due) {
    // Its owner may be gone as soon as it has been called.
    Waiter* next = due->next_;
    due->reached(due);
    due = next;
  }
}

bool Timeline::add_waiter(Waiter* waiter) {
  std::lock_guard lock(mutex_);
  if (value_.load(std::memory_order_relaxed) >= waiter->value)
    return false;
  Waiter* before = nullptr;
  Waiter* after = first_;
  while (after && after->value <= waiter->value) {
    before = after;
    after = after->next_;
  }
  waiter->previous_ = before;
  waiter->next_ = after;
  (before ? before->next_ : first_) = waiter;
  if (after)
    after->previous_ = waiter;
  return true;
}

void Timeline::notify(uint64_t value, std::function<void(uint64_t)> listener) {
  auto waiter = std::make_unique<Listener>();
  waiter->value = value;
  waiter->reached = &Listener::reached_value;
  waiter->executor = &executor_;
  waiter->timeline = this;
  waiter->lane = lane_;
  waiter->listener = std::move(listener);
  if (add_waiter(waiter.get()))
    waiter.release();
  else
    Listener::reached_value(waiter.release());
}

bool Timeline::wait_for(uint64_t value, std::chrono::nanoseconds timeout) {
  const int64_t limit = timeout.count();
  const auto reached = [&] { return value_.load() >= value; };
  if (executor_.workers().may_spin() && spin_until(reached, std::min(limit, kSpinNanoseconds)))
    return true;
  const int64_t start = now_nanoseconds();
  sleepers_.fetch_add(1);
  bool done;
  for (;;) {
    const uint32_t seen = wakeups_.load();
    done = reached();
    const int64_t left = limit - (now_nanoseconds() - start);
    if (done || left <= 0)
      break;
    futex_wait(wakeups_, seen, left);
  }
  sleepers_.fetch_sub(1);
  return done;
}

namespace {

// What a thread in Timeline::wait waits for.
struct CurrentWait {
  const Timeline* timeline;
  uint64_t value;
};
thread_local const CurrentWait* current_wait = nullptr;

} // namespace

bool Timeline::wait_of_this_thread_is_over() {
  return current_wait && current_wait->timeline->value() >= current_wait->value;
}

void Timeline::expect(uint64_t value, WorkOwner owner) {
  std::lock_guard lock(mutex_);
  expected_value_ = value;
  expected_from_ = owner;
}

void Timeline::wait(uint64_t value) {
  WorkerPool& workers = executor_.workers();
  const auto reached = [&] { return value_.load() >= value; };
  const CurrentWait wait = {this, value};
  CommitHabit::wait();
  int64_t spin_end = 0;
  while (!reached()) {
    const uint32_t seen = workers.announcements();
    WorkOwner owner;
    {
      std::lock_guard lock(mutex_);
      owner = expected_value_ >= value ? expected_from_ : kNoOwner;
    }
    if (owner != kNoOwner) {
      current_wait = &wait;
      const bool helped = workers.help(owner);
      current_wait = nullptr;
      if (helped) {
        spin_end = 0;
        continue;
      }
    }
    const int64_t now = now_nanoseconds();
    if (spin_end == 0)
      spin_end = now + kSpinNanoseconds;
    const auto changed = [&] { return reached() || workers.announcements() != seen; };
    if (workers.may_spin() && now < spin_end && spin_until(changed, spin_end - now))
      continue;
    sleepers_.fetch_add(1);
    const uint32_t wakeups = wakeups_.load();
    if (!reached())
      futex_wait(wakeups_, wakeups);
    sleepers_.fetch_sub(1);
  }
}

} // namespace bessemer::metal::cpu
