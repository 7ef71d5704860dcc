#include "metal/cpu/executor/watchdog.h"

#include <algorithm>
#include <vector>

#include "metal/cpu/executor/futex.h"
#include "metal/cpu/executor/kernel_thread.h"

namespace bessemer::metal::cpu {

Watchdog::Watchdog(int64_t limit_nanoseconds)
    : limit_(limit_nanoseconds), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  stopping_.store(1);
  futex_wake_all(stopping_);
  thread_.join();
}

void Watchdog::run() {
  // Looking now and then costs a kernel call nothing; a time stamp in every call would.
  struct Sighting {
    const KernelThread* thread;
    uint64_t sequence;
    int64_t since;
  };
  std::vector<Sighting> before, now;
  while (!stopping_.load()) {
    futex_wait(stopping_, 0, std::max<int64_t>(limit_ / 4, 100'000));
    const int64_t time = now_nanoseconds();
    now.clear();
    KernelThreadRegistry::for_each([&](KernelThread& thread) {
      const uint64_t sequence = thread.sequence();
      if (sequence % 2 == 0)
        return;
      auto seen = std::ranges::find_if(before, [&](const Sighting& sighting) {
        return sighting.thread == &thread && sighting.sequence == sequence;
      });
      now.push_back({&thread, sequence, seen == before.end() ? time : seen->since});
      if (time - now.back().since >= limit_)
        thread.interrupt(sequence);
    });
    before.swap(now);
  }
}

} // namespace bessemer::metal::cpu
