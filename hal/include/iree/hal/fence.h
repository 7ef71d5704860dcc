#ifndef IREE_HAL_FENCE_H_
#define IREE_HAL_FENCE_H_

#include "iree/base/api.h"
#include "iree/hal/semaphore.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A set of timepoints with fixed room. A null fence has been reached.
typedef struct iree_hal_fence_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  uint16_t capacity;
  uint16_t count;
} iree_hal_fence_t;

/// Makes an empty fence with room for `capacity` timepoints, fewer than 65535.
IREE_API_EXPORT iree_status_t iree_hal_fence_create(iree_host_size_t capacity,
                                                    iree_allocator_t host_allocator,
                                                    iree_hal_fence_t** out_fence);

/// Makes a fence of one timepoint.
IREE_API_EXPORT iree_status_t iree_hal_fence_create_at(iree_hal_semaphore_t* semaphore,
                                                       uint64_t value,
                                                       iree_allocator_t host_allocator,
                                                       iree_hal_fence_t** out_fence);

/// Makes a fence of all timepoints of several; null when there are none.
IREE_API_EXPORT iree_status_t iree_hal_fence_join(iree_host_size_t fence_count,
                                                  iree_hal_fence_t** fences,
                                                  iree_allocator_t host_allocator,
                                                  iree_hal_fence_t** out_fence);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_fence_retain(iree_hal_fence_t* fence);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_fence_release(iree_hal_fence_t* fence);

/// The timepoints as a list, as long as the fence is not changed.
IREE_API_EXPORT iree_hal_semaphore_list_t iree_hal_fence_semaphore_list(iree_hal_fence_t* fence);

/// Number of timepoints.
IREE_API_EXPORT iree_host_size_t iree_hal_fence_timepoint_count(const iree_hal_fence_t* fence);

/// Adds a timepoint; of a semaphore that is there the larger value stays. RESOURCE_EXHAUSTED when
/// full.
IREE_API_EXPORT iree_status_t iree_hal_fence_insert(iree_hal_fence_t* fence,
                                                    iree_hal_semaphore_t* semaphore,
                                                    uint64_t value);

/// Inserts all timepoints of another fence.
IREE_API_EXPORT iree_status_t iree_hal_fence_extend(iree_hal_fence_t* into_fence,
                                                    iree_hal_fence_t* from_fence);

/// OK when reached, DEFERRED when not yet, or a failure.
IREE_API_EXPORT iree_status_t iree_hal_fence_query(iree_hal_fence_t* fence);

/// Signals all timepoints.
IREE_API_EXPORT iree_status_t iree_hal_fence_signal(iree_hal_fence_t* fence);

/// Fails all semaphores with `signal_status`, which is taken.
IREE_API_EXPORT void iree_hal_fence_fail(iree_hal_fence_t* fence, iree_status_t signal_status);

/// Waits for all timepoints, as iree_hal_semaphore_wait.
IREE_API_EXPORT iree_status_t iree_hal_fence_wait(iree_hal_fence_t* fence, iree_timeout_t timeout,
                                                  iree_async_wait_flags_t flags);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_fence_destroy(iree_hal_fence_t* fence);

#ifdef __cplusplus
}
#endif
#endif
