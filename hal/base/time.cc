#include "iree/base/time.h"

#include <cerrno>
#include <ctime>

namespace {
constexpr int64_t kNanosPerSecond = 1000000000;
constexpr int64_t kNanosPerMilli = 1000000;
} // namespace

iree_time_t iree_time_now(void) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * kNanosPerSecond + now.tv_nsec;
}

iree_time_t iree_relative_timeout_to_deadline_ns(iree_duration_t timeout_ns) {
  if (timeout_ns <= IREE_DURATION_ZERO)
    return IREE_TIME_INFINITE_PAST;
  iree_time_t deadline = 0;
  if (__builtin_add_overflow(iree_time_now(), timeout_ns, &deadline)) {
    return IREE_TIME_INFINITE_FUTURE;
  }
  return deadline;
}

iree_duration_t iree_absolute_deadline_to_timeout_ns(iree_time_t deadline_ns) {
  if (deadline_ns == IREE_TIME_INFINITE_FUTURE)
    return IREE_DURATION_INFINITE;
  if (deadline_ns == IREE_TIME_INFINITE_PAST)
    return IREE_DURATION_ZERO;
  iree_time_t now = iree_time_now();
  return deadline_ns <= now ? IREE_DURATION_ZERO : deadline_ns - now;
}

uint32_t iree_absolute_deadline_to_timeout_ms(iree_time_t deadline_ns) {
  iree_duration_t nanos = iree_absolute_deadline_to_timeout_ns(deadline_ns);
  if (nanos == IREE_DURATION_INFINITE)
    return UINT32_MAX;
  int64_t millis = nanos / kNanosPerMilli + (nanos % kNanosPerMilli != 0);
  // The largest number means forever, so a long wait stops one short of it.
  return millis >= UINT32_MAX ? UINT32_MAX - 1 : static_cast<uint32_t>(millis);
}

bool iree_wait_until(iree_time_t deadline_ns) {
  if (deadline_ns == IREE_TIME_INFINITE_PAST)
    return true;
  if (deadline_ns == IREE_TIME_INFINITE_FUTURE)
    return false;
  for (;;) {
    iree_duration_t nanos = iree_absolute_deadline_to_timeout_ns(deadline_ns);
    if (nanos == 0)
      return true;
    timespec remaining = {static_cast<time_t>(nanos / kNanosPerSecond),
                          static_cast<long>(nanos % kNanosPerSecond)};
    if (nanosleep(&remaining, nullptr) != 0 && errno != EINTR)
      return false;
  }
}
