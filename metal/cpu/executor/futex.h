// Sleeping on a 32-bit word, a clock, and how long a thread spins before it sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace bessemer::metal::cpu {

// Sleeps while `word` holds `expected`, until woken; may return early. Negative: no time limit.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                int64_t timeout_nanoseconds = -1);
void futex_wake(const std::atomic<uint32_t>& word, uint32_t count);
inline void futex_wake_all(const std::atomic<uint32_t>& word) { futex_wake(word, 0x7fffffff); }

// CLOCK_MONOTONIC.
int64_t now_nanoseconds();

// A futex round trip costs 34-46 µs on a virtual machine, a hand-over to a spinning thread 3-8 µs;
// spinning for half of the first never costs more than 1.5 times the better choice.
inline constexpr int64_t kSpinNanoseconds = 20'000;

inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// Calls `done` until it is true or `nanoseconds` have passed; says whether it was.
template <typename Done>
bool spin_until(Done&& done, int64_t nanoseconds) {
  if (done())
    return true;
  const int64_t end = now_nanoseconds() + nanoseconds;
  do {
    // The clock is as dear as many looks at the flag.
    for (int i = 0; i < 16; ++i) {
      spin_pause();
      if (done())
        return true;
    }
  } while (now_nanoseconds() < end);
  return false;
}

} // namespace bessemer::metal::cpu
