#include "metal/cpu/executor/notifier.h"

#include <pthread.h>

#include "metal/cpu/executor/futex.h"
#include "metal/cpu/executor/processor_count.h"

namespace bessemer::metal::cpu {

Notifier::~Notifier() {
  stopping_.store(true);
  wake();
  if (thread_.joinable())
    thread_.join();
}

void Notifier::wake() {
  posts_.fetch_add(1);
  if (sleeping_.load())
    futex_wake_all(posts_);
}

void Notifier::post(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    pending_.push_back(std::move(work));
    if (!thread_.joinable())
      thread_ = std::thread([this] { run(); });
  }
  wake();
}

void Notifier::run() {
  pthread_setname_np(pthread_self(), "bessemer-notify");
  static const bool may_spin = available_processors() > 1;
  std::deque<std::function<void()>> batch;
  for (;;) {
    const uint32_t seen = posts_.load();
    {
      std::lock_guard lock(mutex_);
      batch.swap(pending_);
    }
    if (batch.empty()) {
      if (stopping_.load())
        return;
      // Whoever waits for a list waits for its handlers too, so their way is kept as short.
      const auto posted = [&] { return posts_.load() != seen; };
      if (may_spin && spin_until(posted, kSpinNanoseconds))
        continue;
      sleeping_.store(true);
      if (!posted())
        futex_wait(posts_, seen);
      sleeping_.store(false);
      continue;
    }
    while (!batch.empty()) {
      // Taken out first: what the handler holds goes when it has returned, not with the batch.
      const std::function<void()> work = std::move(batch.front());
      batch.pop_front();
      work();
    }
  }
}

} // namespace bessemer::metal::cpu
