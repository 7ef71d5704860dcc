#include "iree/base/threading/futex.h"

#if defined(IREE_RUNTIME_USE_FUTEX)

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

iree_status_code_t Wait(void* address, uint32_t expected_value, iree_time_t deadline_ns,
                        int scope) {
  constexpr int64_t kNanosPerSecond = 1000000000;
  timespec deadline = {};
  timespec* deadline_ptr = nullptr;
  if (deadline_ns != IREE_TIME_INFINITE_FUTURE) {
    // The infinite past is a time that the kernel would refuse.
    int64_t nanos = deadline_ns < 0 ? 0 : deadline_ns;
    deadline.tv_sec = nanos / kNanosPerSecond;
    deadline.tv_nsec = nanos % kNanosPerSecond;
    deadline_ptr = &deadline;
  }
  // The bitset form takes an absolute time of the clock that iree_time_now reads.
  long result = syscall(SYS_futex, address, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | scope,
                        expected_value, deadline_ptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  if (result == 0 || errno == EINTR)
    return IREE_STATUS_OK;
  return errno == ETIMEDOUT ? IREE_STATUS_DEADLINE_EXCEEDED : IREE_STATUS_UNAVAILABLE;
}

void Wake(void* address, int32_t count, int scope) {
  syscall(SYS_futex, address, FUTEX_WAKE | scope, count, nullptr, nullptr, 0);
}

} // namespace

iree_status_code_t iree_futex_wait(void* address, uint32_t expected_value,
                                   iree_time_t deadline_ns) {
  return Wait(address, expected_value, deadline_ns, FUTEX_PRIVATE_FLAG);
}

void iree_futex_wake(void* address, int32_t count) { Wake(address, count, FUTEX_PRIVATE_FLAG); }

iree_status_code_t iree_futex_wait_shared(void* address, uint32_t expected_value,
                                          iree_time_t deadline_ns) {
  return Wait(address, expected_value, deadline_ns, 0);
}

void iree_futex_wake_shared(void* address, int32_t count) { Wake(address, count, 0); }

#endif // IREE_RUNTIME_USE_FUTEX
