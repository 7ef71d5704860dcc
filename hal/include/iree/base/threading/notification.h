// Waiting for a condition that other threads make true without holding a lock.

#ifndef IREE_BASE_THREADING_NOTIFICATION_H_
#define IREE_BASE_THREADING_NOTIFICATION_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/futex.h"

#if !IREE_SYNCHRONIZATION_DISABLE_UNSAFE
#include <pthread.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

// An event count. A waiter takes a token, checks its condition, then sleeps until a post that comes
// after the token: no wake is lost between check and sleep, and posting without waiters costs one
// atomic addition.
typedef struct iree_notification_t {
#if IREE_SYNCHRONIZATION_DISABLE_UNSAFE
  int reserved;
#elif defined(IREE_RUNTIME_USE_FUTEX)
  // Posts so far in the upper half, waiters in the lower.
  iree_atomic_int64_t value;
#else
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t epoch;
  uint32_t waiters;
#endif
} iree_notification_t;

IREE_API_EXPORT void iree_notification_initialize(iree_notification_t* out_notification);
IREE_API_EXPORT void iree_notification_deinitialize(iree_notification_t* notification);

// Wakes up to `count` waiters (IREE_ALL_WAITERS: all).
IREE_API_EXPORT void iree_notification_post(iree_notification_t* notification, int32_t count);

typedef uint32_t iree_wait_token_t;

// Every prepare is followed by one commit or cancel.
IREE_API_EXPORT iree_wait_token_t iree_notification_prepare_wait(iree_notification_t* notification);
// False when the deadline came first.
IREE_API_EXPORT bool iree_notification_commit_wait(iree_notification_t* notification,
                                                   iree_wait_token_t wait_token,
                                                   iree_duration_t spin_ns,
                                                   iree_time_t deadline_ns);
IREE_API_EXPORT void iree_notification_cancel_wait(iree_notification_t* notification);

typedef bool (*iree_condition_fn_t)(void* arg);

// Waits until the condition is true; it is checked after each post. False: timeout.
IREE_API_EXPORT bool iree_notification_await(iree_notification_t* notification,
                                             iree_condition_fn_t condition_fn, void* condition_arg,
                                             iree_timeout_t timeout);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_THREADING_NOTIFICATION_H_
