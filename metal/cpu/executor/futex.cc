#include "metal/cpu/executor/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace bessemer::metal::cpu {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected, int64_t timeout_nanoseconds) {
  timespec timeout;
  if (timeout_nanoseconds >= 0) {
    timeout.tv_sec = timeout_nanoseconds / 1'000'000'000;
    timeout.tv_nsec = timeout_nanoseconds % 1'000'000'000;
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected,
          timeout_nanoseconds >= 0 ? &timeout : nullptr, nullptr, 0);
}

void futex_wake(const std::atomic<uint32_t>& word, uint32_t count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

int64_t now_nanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace bessemer::metal::cpu
