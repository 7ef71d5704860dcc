// Waiting for a 32-bit word to change, where the kernel offers that.

#ifndef IREE_BASE_THREADING_FUTEX_H_
#define IREE_BASE_THREADING_FUTEX_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/target_platform.h"

#if defined(IREE_PLATFORM_LINUX) && !IREE_SYNCHRONIZATION_DISABLE_UNSAFE
#define IREE_PLATFORM_HAS_FUTEX 1
// ThreadSanitizer does not see futexes, so it is given pthread's locks.
#if !defined(IREE_SANITIZER_THREAD)
#define IREE_RUNTIME_USE_FUTEX 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_ALL_WAITERS INT32_MAX
#define IREE_INFINITE_TIMEOUT_MS UINT32_MAX

#if defined(IREE_RUNTIME_USE_FUTEX)
// Sleeps while *address is `expected_value`. OK after a wake (or none: check again), UNAVAILABLE
// when the value was another from the start, DEADLINE_EXCEEDED.
IREE_API_EXPORT iree_status_code_t iree_futex_wait(void* address, uint32_t expected_value,
                                                   iree_time_t deadline_ns);
IREE_API_EXPORT void iree_futex_wake(void* address, int32_t count);
// The same between processes that share the memory.
IREE_API_EXPORT iree_status_code_t iree_futex_wait_shared(void* address, uint32_t expected_value,
                                                          iree_time_t deadline_ns);
IREE_API_EXPORT void iree_futex_wake_shared(void* address, int32_t count);
#endif

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_THREADING_FUTEX_H_
