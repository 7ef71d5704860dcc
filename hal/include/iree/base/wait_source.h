// Something that will be ready at some time, whatever it is.

#ifndef IREE_BASE_WAIT_SOURCE_H_
#define IREE_BASE_WAIT_SOURCE_H_

#include "iree/base/attributes.h"
#include "iree/base/status.h"
#include "iree/base/time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_wait_source_t iree_wait_source_t;

// Told once that the wait ended; owns the status.
typedef void (*iree_wait_source_resolve_callback_t)(void* user_data, iree_status_t status);

// With a callback: returns at once, and calls it when the source is ready, has failed, or the
// timeout is over; it may be called before this returns, and not at all if this fails.
// Without one: waits, and returns the result; DEADLINE_EXCEEDED when the timeout is over.
typedef iree_status_t (*iree_wait_source_resolve_fn_t)(iree_wait_source_t wait_source,
                                                       iree_timeout_t timeout,
                                                       iree_wait_source_resolve_callback_t callback,
                                                       void* user_data);

// Passed by value; what `self` points at must live while anyone waits.
struct iree_wait_source_t {
  void* self;
  uint64_t data;
  iree_wait_source_resolve_fn_t resolve;
};

// Ready from the start.
static inline iree_wait_source_t iree_wait_source_immediate(void) {
  iree_wait_source_t wait_source;
  wait_source.self = NULL;
  wait_source.data = 0;
  wait_source.resolve = NULL;
  return wait_source;
}

static inline bool iree_wait_source_is_immediate(iree_wait_source_t wait_source) {
  return wait_source.resolve == NULL;
}

IREE_API_EXPORT iree_status_t
iree_wait_source_delay_resolve(iree_wait_source_t wait_source, iree_timeout_t timeout,
                               iree_wait_source_resolve_callback_t callback, void* user_data);

// Ready at a point in time.
static inline iree_wait_source_t iree_wait_source_delay(iree_time_t deadline_ns) {
  iree_wait_source_t wait_source;
  wait_source.self = NULL;
  wait_source.data = (uint64_t)deadline_ns;
  wait_source.resolve = iree_wait_source_delay_resolve;
  return wait_source;
}

static inline bool iree_wait_source_is_delay(iree_wait_source_t wait_source) {
  return wait_source.resolve == iree_wait_source_delay_resolve;
}

// OK when ready, DEFERRED when not yet, else the code of the failure.
IREE_API_EXPORT iree_status_t iree_wait_source_query(iree_wait_source_t wait_source,
                                                     iree_status_code_t* out_wait_status_code);
IREE_API_EXPORT iree_status_t iree_wait_source_wait_one(iree_wait_source_t wait_source,
                                                        iree_timeout_t timeout);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_WAIT_SOURCE_H_
