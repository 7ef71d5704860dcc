// A reference counted event count: told that something may have changed, for any number of waiters.

#ifndef IREE_ASYNC_NOTIFICATION_H_
#define IREE_ASYNC_NOTIFICATION_H_

#include "iree/async/primitive.h"
#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/futex.h"
#include "iree/base/threading/notification.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_proactor_t iree_async_proactor_t;

enum iree_async_notification_flag_bits_e {
  IREE_ASYNC_NOTIFICATION_FLAG_NONE = 0u,
  // Between processes: UNIMPLEMENTED.
  IREE_ASYNC_NOTIFICATION_FLAG_SHARED = 1u << 0,
};
typedef uint32_t iree_async_notification_flags_t;

typedef struct iree_async_notification_t iree_async_notification_t;

IREE_API_EXPORT iree_status_t iree_async_notification_create(
    iree_async_proactor_t* proactor, iree_async_notification_flags_t flags,
    iree_async_notification_t** out_notification);
IREE_API_EXPORT void iree_async_notification_retain(iree_async_notification_t* notification);
IREE_API_EXPORT void iree_async_notification_release(iree_async_notification_t* notification);

// Advances the epoch and wakes up to `wake_count` waiters, and every listener.
IREE_API_EXPORT void iree_async_notification_signal(iree_async_notification_t* notification,
                                                    int32_t wake_count);
// The same when someone observes, waits or listens; tells whether one did.
IREE_API_EXPORT bool
iree_async_notification_signal_if_observed(iree_async_notification_t* notification,
                                           int32_t wake_count);
IREE_API_EXPORT uint32_t
iree_async_notification_query_epoch(iree_async_notification_t* notification);

// Announces a check whose outcome may be to wait; returns the token to wait with. Signals after
// this are seen. Ends with iree_async_notification_end_observe.
IREE_API_EXPORT uint32_t
iree_async_notification_begin_observe(iree_async_notification_t* notification);
IREE_API_EXPORT void iree_async_notification_end_observe(iree_async_notification_t* notification);

// Waits for the next signal, or for one after the token. False: timeout.
IREE_API_EXPORT bool iree_async_notification_wait(iree_async_notification_t* notification,
                                                  iree_timeout_t timeout);
IREE_API_EXPORT bool iree_async_notification_wait_for_token(iree_async_notification_t* notification,
                                                            uint32_t wait_token,
                                                            iree_timeout_t timeout);

// An extension of this implementation: told once of the next signal, on the signaling thread and
// without locks. The storage is the caller's until then or until it is removed.
typedef struct iree_async_notification_listener_t {
  struct iree_async_notification_listener_t* next;
  struct iree_async_notification_listener_t* prev;
  void (*fn)(void* user_data);
  void* user_data;
} iree_async_notification_listener_t;

// False, and not added, when there was a signal since `wait_token` was taken.
IREE_API_EXPORT bool
iree_async_notification_add_listener(iree_async_notification_t* notification, uint32_t wait_token,
                                     iree_async_notification_listener_t* listener);
// True when it will not be called any more; false when it was, or is being called.
IREE_API_EXPORT bool
iree_async_notification_remove_listener(iree_async_notification_t* notification,
                                        iree_async_notification_listener_t* listener);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_NOTIFICATION_H_
