// The present epoch of every axis of a system, and waits for frontiers.

#ifndef IREE_ASYNC_FRONTIER_TRACKER_H_
#define IREE_ASYNC_FRONTIER_TRACKER_H_

#include "iree/async/frontier.h"
#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_semaphore_t iree_async_semaphore_t;
typedef struct iree_async_frontier_tracker_t iree_async_frontier_tracker_t;

// Told once that the wait ended; owns the status. Runs without locks on the thread that advanced or
// failed an axis.
typedef void (*iree_async_frontier_waiter_fn_t)(void* user_data, iree_status_t status);

// Storage of one wait, the caller's until the callback has run or the wait was cancelled.
typedef struct iree_async_frontier_waiter_t {
  struct iree_async_frontier_waiter_t* next;
  const iree_async_frontier_t* frontier;
  iree_async_frontier_waiter_fn_t callback;
  void* user_data;
  iree_status_t dispatch_status;
} iree_async_frontier_waiter_t;

typedef struct iree_async_frontier_tracker_options_t {
  // Most axes that can be registered at one time.
  uint32_t axis_table_capacity;
  // Parts of the axes that devices make.
  uint8_t session_epoch;
  uint8_t machine_index;
} iree_async_frontier_tracker_options_t;

static inline iree_async_frontier_tracker_options_t
iree_async_frontier_tracker_options_default(void) {
  iree_async_frontier_tracker_options_t options;
  options.axis_table_capacity = 256;
  options.session_epoch = 1;
  options.machine_index = 0;
  return options;
}

iree_status_t iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_t options,
                                                 iree_allocator_t allocator,
                                                 iree_async_frontier_tracker_t** out_tracker);
void iree_async_frontier_tracker_retain(iree_async_frontier_tracker_t* tracker);
void iree_async_frontier_tracker_release(iree_async_frontier_tracker_t* tracker);

uint8_t iree_async_frontier_tracker_session_epoch(const iree_async_frontier_tracker_t* tracker);
uint8_t iree_async_frontier_tracker_machine_index(const iree_async_frontier_tracker_t* tracker);

// Starts an axis at epoch 0. The semaphore (may be NULL) is signaled with each epoch; it is not
// retained, so the axis must be retired first. ALREADY_EXISTS, or RESOURCE_EXHAUSTED when the table
// is full.
iree_status_t iree_async_frontier_tracker_register_axis(iree_async_frontier_tracker_t* tracker,
                                                        iree_async_axis_t axis,
                                                        iree_async_semaphore_t* semaphore);
// Ends an axis and forgets its semaphore; present and later waits for it fail with `status`, which
// is taken. No one may be advancing it. The axis can be registered again.
void iree_async_frontier_tracker_retire_axis(iree_async_frontier_tracker_t* tracker,
                                             iree_async_axis_t axis, iree_status_t status);

// Whether the axis has reached the epoch; false for unknown and failed axes.
bool iree_async_frontier_tracker_query_epoch(const iree_async_frontier_tracker_t* tracker,
                                             iree_async_axis_t axis, uint64_t epoch);
// Raises an axis to an epoch (a smaller one does nothing) and ends the waits that it satisfies,
// whose number is returned.
iree_host_size_t iree_async_frontier_tracker_advance(iree_async_frontier_tracker_t* tracker,
                                                     iree_async_axis_t axis, uint64_t epoch);

// Calls back once the frontier is reached: at once, within this call, if it already is. The
// frontier must live until then. When this fails the callback does not run; an axis that is not
// registered is NOT_FOUND.
iree_status_t iree_async_frontier_tracker_wait(iree_async_frontier_tracker_t* tracker,
                                               const iree_async_frontier_t* frontier,
                                               iree_async_frontier_waiter_fn_t callback,
                                               void* user_data,
                                               iree_async_frontier_waiter_t* waiter);
// True when the callback will not run; false when it has, or is about to.
bool iree_async_frontier_tracker_cancel_wait(iree_async_frontier_tracker_t* tracker,
                                             iree_async_frontier_waiter_t* waiter);

// Fails the axis for good: present and later waits for epochs it had not reached get the status,
// which is taken. The first failure stays.
void iree_async_frontier_tracker_fail_axis(iree_async_frontier_tracker_t* tracker,
                                           iree_async_axis_t axis, iree_status_t status);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_FRONTIER_TRACKER_H_
