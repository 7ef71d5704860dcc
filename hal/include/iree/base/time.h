// Points in time, durations, and timeouts that are either. All in nanoseconds.

#ifndef IREE_BASE_TIME_H_
#define IREE_BASE_TIME_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/attributes.h"
#include "iree/base/config.h"

#ifdef __cplusplus
extern "C" {
#endif

// Nanoseconds of a clock that starts at the Unix epoch.
typedef int64_t iree_time_t;
#define IREE_TIME_INFINITE_PAST INT64_MIN
#define IREE_TIME_INFINITE_FUTURE INT64_MAX

typedef int64_t iree_duration_t;
#define IREE_DURATION_ZERO 0
#define IREE_DURATION_INFINITE INT64_MAX

IREE_API_EXPORT iree_time_t iree_time_now(void);

// Saturates at IREE_DURATION_INFINITE.
static inline iree_duration_t iree_make_duration_ms(int64_t timeout_ms) {
  if (timeout_ms > INT64_MAX / 1000000)
    return IREE_DURATION_INFINITE;
  if (timeout_ms < INT64_MIN / 1000000)
    return INT64_MIN;
  return timeout_ms * 1000000;
}

// Zero becomes the infinite past (a poll), and infinity stays infinity.
IREE_API_EXPORT iree_time_t iree_relative_timeout_to_deadline_ns(iree_duration_t timeout_ns);
// What is left until the deadline, never negative.
IREE_API_EXPORT iree_duration_t iree_absolute_deadline_to_timeout_ns(iree_time_t deadline_ns);
// The same in milliseconds, rounded up; UINT32_MAX is infinite.
IREE_API_EXPORT uint32_t iree_absolute_deadline_to_timeout_ms(iree_time_t deadline_ns);

typedef enum iree_timeout_type_e {
  IREE_TIMEOUT_ABSOLUTE = 0,
  IREE_TIMEOUT_RELATIVE = 1,
} iree_timeout_type_t;

// How long to wait. A relative one counts from the call that receives it: make it absolute before
// using it twice.
typedef struct iree_timeout_t {
  iree_timeout_type_t type;
  iree_time_t nanos;
} iree_timeout_t;

static inline iree_timeout_t iree_make_deadline(iree_time_t deadline_ns) {
  iree_timeout_t timeout;
  timeout.type = IREE_TIMEOUT_ABSOLUTE;
  timeout.nanos = deadline_ns;
  return timeout;
}

static inline iree_timeout_t iree_make_timeout_ns(iree_duration_t timeout_ns) {
  iree_timeout_t timeout;
  timeout.type = IREE_TIMEOUT_RELATIVE;
  timeout.nanos = timeout_ns;
  return timeout;
}

static inline iree_timeout_t iree_make_timeout_ms(iree_duration_t timeout_ms) {
  return iree_make_timeout_ns(timeout_ms == IREE_DURATION_INFINITE
                                  ? IREE_DURATION_INFINITE
                                  : iree_make_duration_ms(timeout_ms));
}

// A poll.
static inline iree_timeout_t iree_immediate_timeout(void) {
  return iree_make_deadline(IREE_TIME_INFINITE_PAST);
}

static inline bool iree_timeout_is_immediate(iree_timeout_t timeout) {
  return timeout.type == IREE_TIMEOUT_ABSOLUTE ? timeout.nanos == IREE_TIME_INFINITE_PAST
                                               : timeout.nanos <= IREE_DURATION_ZERO;
}

static inline iree_timeout_t iree_infinite_timeout(void) {
  return iree_make_deadline(IREE_TIME_INFINITE_FUTURE);
}

static inline bool iree_timeout_is_infinite(iree_timeout_t timeout) {
  // The two infinities are the same number.
  return timeout.nanos == IREE_TIME_INFINITE_FUTURE;
}

static inline void iree_convert_timeout_to_absolute(iree_timeout_t* timeout) {
  if (timeout->type == IREE_TIMEOUT_RELATIVE) {
    *timeout = iree_make_deadline(iree_relative_timeout_to_deadline_ns(timeout->nanos));
  }
}

static inline iree_time_t iree_timeout_as_deadline_ns(iree_timeout_t timeout) {
  iree_convert_timeout_to_absolute(&timeout);
  return timeout.nanos;
}

static inline iree_duration_t iree_timeout_as_duration_ns(iree_timeout_t timeout) {
  return timeout.type == IREE_TIMEOUT_RELATIVE
             ? timeout.nanos
             : iree_absolute_deadline_to_timeout_ns(timeout.nanos);
}

// The one that ends first.
static inline iree_timeout_t iree_timeout_min(iree_timeout_t lhs, iree_timeout_t rhs) {
  iree_convert_timeout_to_absolute(&lhs);
  iree_convert_timeout_to_absolute(&rhs);
  return lhs.nanos < rhs.nanos ? lhs : rhs;
}

// Sleeps; false when the sleep could not reach the deadline (an infinite one).
bool iree_wait_until(iree_time_t deadline_ns);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_TIME_H_
