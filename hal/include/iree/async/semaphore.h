// Timeline semaphores: a number that only grows, or a failure for good; waits by callback or by
// blocking.

#ifndef IREE_ASYNC_SEMAPHORE_H_
#define IREE_ASYNC_SEMAPHORE_H_

#include "iree/async/frontier.h"
#include "iree/async/operation.h"
#include "iree/async/primitive.h"
#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_proactor_t iree_async_proactor_t;
typedef struct iree_async_semaphore_t iree_async_semaphore_t;
typedef struct iree_async_semaphore_timepoint_t iree_async_semaphore_timepoint_t;

// Told once that the timepoint was reached (OK) or never will be; owns the status. Runs without the
// semaphore's lock on the thread that signaled or failed it, and may signal or fail any semaphore.
typedef void (*iree_async_semaphore_timepoint_fn_t)(void* user_data,
                                                    iree_async_semaphore_timepoint_t* timepoint,
                                                    iree_status_t status);

// A wait for a value. The storage is the caller's until the callback has run or the timepoint was
// cancelled; the caller sets `callback` and `user_data` and keeps the semaphore alive.
struct iree_async_semaphore_timepoint_t {
  struct iree_async_semaphore_timepoint_t* next;
  struct iree_async_semaphore_timepoint_t* prev;
  iree_async_semaphore_t* semaphore;
  uint64_t minimum_value;
  iree_async_semaphore_timepoint_fn_t callback;
  void* user_data;
};

// Storage of a link from one semaphore to another.
typedef struct iree_async_semaphore_link_t {
  iree_async_semaphore_timepoint_t timepoint;
  iree_async_semaphore_t* target;
  uint64_t signal_value;
} iree_async_semaphore_link_t;

typedef struct iree_async_semaphore_vtable_t {
  void (*destroy)(iree_async_semaphore_t* semaphore);
  // The newest value that was signaled.
  uint64_t (*query)(iree_async_semaphore_t* semaphore);
  // Advances the timeline and dispatches the timepoints that it reaches.
  iree_status_t (*signal)(iree_async_semaphore_t* semaphore, uint64_t value,
                          const iree_async_frontier_t* frontier);
  // May be NULL. Called after a failure was recorded and host waiters were told, to release what
  // waits on the device.
  void (*on_fail)(iree_async_semaphore_t* semaphore, iree_status_code_t status_code);
} iree_async_semaphore_vtable_t;

#define IREE_ASYNC_SEMAPHORE_DEFAULT_FRONTIER_CAPACITY 16

// Begins as a HAL resource does, {ref_count, vtable}, so that a HAL semaphore is one of these.
struct iree_async_semaphore_t {
  iree_atomic_ref_count_t ref_count;
  const iree_async_semaphore_vtable_t* vtable;
  // Of semaphores made by iree_async_semaphore_create.
  iree_allocator_t allocator;
  iree_async_proactor_t* proactor;
  // The value, as the host knows it.
  iree_atomic_int64_t timeline_value;
  // The newest value whose frontier was known in full.
  iree_atomic_int64_t last_untainted_value;
  // Guards all that follows.
  iree_slim_mutex_t mutex;
  // iree_status_t of the first failure; written once.
  iree_atomic_intptr_t failure_status;
  // Pending timepoints.
  iree_async_semaphore_timepoint_t* timepoints_head;
  // What has happened when the newest value is reached; NULL when frontier_capacity is 0.
  iree_async_frontier_t* frontier;
  uint8_t frontier_capacity;
};

// Where the frontier lies behind a struct of `base_size` bytes, and the size of both.
static inline iree_status_t iree_async_semaphore_layout(iree_host_size_t base_size,
                                                        uint8_t frontier_capacity,
                                                        iree_host_size_t* out_frontier_offset,
                                                        iree_host_size_t* out_total_size) {
  iree_host_size_t offset = 0;
  iree_host_size_t frontier_size = 0;
  *out_frontier_offset = 0;
  *out_total_size = 0;
  if (!iree_host_size_checked_align(base_size, IREE_ASYNC_FRONTIER_ALIGNMENT, &offset)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "semaphore size overflows");
  }
  IREE_RETURN_IF_ERROR(iree_async_frontier_size(frontier_capacity, &frontier_size));
  if (!iree_host_size_checked_add(offset, frontier_size, out_total_size)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "semaphore size overflows");
  }
  *out_frontier_offset = offset;
  return iree_ok_status();
}

// For the first member of a larger struct laid out as above, whose memory is the caller's to free
// from the vtable's destroy.
IREE_API_EXPORT void iree_async_semaphore_initialize(const iree_async_semaphore_vtable_t* vtable,
                                                     iree_async_proactor_t* proactor,
                                                     uint64_t initial_value,
                                                     iree_host_size_t frontier_offset,
                                                     uint8_t frontier_capacity,
                                                     iree_async_semaphore_t* out_semaphore);
// Ends pending timepoints with CANCELLED and frees the failure.
IREE_API_EXPORT void iree_async_semaphore_deinitialize(iree_async_semaphore_t* semaphore);

IREE_API_EXPORT void iree_async_semaphore_retain(iree_async_semaphore_t* semaphore);
IREE_API_EXPORT void iree_async_semaphore_release(iree_async_semaphore_t* semaphore);

// A semaphore of the host alone.
IREE_API_EXPORT iree_status_t iree_async_semaphore_create(iree_async_proactor_t* proactor,
                                                          uint64_t initial_value,
                                                          uint8_t frontier_capacity,
                                                          iree_allocator_t allocator,
                                                          iree_async_semaphore_t** out_semaphore);

// The newest value, whether or not it failed since.
static inline uint64_t iree_async_semaphore_query(iree_async_semaphore_t* semaphore) {
  return semaphore->vtable->query(semaphore);
}

// OK, or the code of the failure.
static inline iree_status_code_t
iree_async_semaphore_query_status(iree_async_semaphore_t* semaphore) {
  return iree_status_code(
      (iree_status_t)iree_atomic_load(&semaphore->failure_status, iree_memory_order_acquire));
}

// The value must grow, else INVALID_ARGUMENT; after a failure, its code. `frontier` may be NULL.
static inline iree_status_t iree_async_semaphore_signal(iree_async_semaphore_t* semaphore,
                                                        uint64_t value,
                                                        const iree_async_frontier_t* frontier) {
  return semaphore->vtable->signal(semaphore, value, frontier);
}

// Takes the status. The first failure stays; all pending timepoints end with it.
IREE_API_EXPORT void iree_async_semaphore_fail(iree_async_semaphore_t* semaphore,
                                               iree_status_t status);

// Copies up to `capacity` entries of the frontier; returns how many there are.
IREE_API_EXPORT uint8_t iree_async_semaphore_query_frontier(iree_async_semaphore_t* semaphore,
                                                            iree_async_frontier_t* out_frontier,
                                                            uint8_t capacity);

// Starts a wait. If the value is already reached, or the semaphore has failed, the callback runs
// within this call.
IREE_API_EXPORT iree_status_t
iree_async_semaphore_acquire_timepoint(iree_async_semaphore_t* semaphore, uint64_t minimum_value,
                                       iree_async_semaphore_timepoint_t* timepoint);
// True when the callback will not run; false when it has or is about to.
IREE_API_EXPORT bool
iree_async_semaphore_cancel_timepoint(iree_async_semaphore_t* semaphore,
                                      iree_async_semaphore_timepoint_t* timepoint);

// A wait in the manner of iree_wait_source_resolve_fn_t.
IREE_API_EXPORT iree_status_t iree_async_semaphore_resolve(
    iree_async_semaphore_t* semaphore, uint64_t minimum_value, iree_timeout_t timeout,
    iree_wait_source_resolve_callback_t callback, void* user_data);

// When `source` reaches its value, `target` is signaled with its own; a failure passes on likewise.
IREE_API_EXPORT iree_status_t iree_async_semaphore_link(iree_async_semaphore_t* source,
                                                        uint64_t source_value,
                                                        iree_async_semaphore_t* target,
                                                        uint64_t target_value,
                                                        iree_async_semaphore_link_t* out_link);
IREE_API_EXPORT bool iree_async_semaphore_unlink(iree_async_semaphore_link_t* link);

// Values above the newest untainted one were signaled without a full frontier: what lies before
// them is not known.
IREE_API_EXPORT bool iree_async_semaphore_is_value_tainted(iree_async_semaphore_t* semaphore,
                                                           uint64_t value);
IREE_API_EXPORT void iree_async_semaphore_mark_tainted_above(iree_async_semaphore_t* semaphore,
                                                             uint64_t threshold);
// Signals, with the frontier known in full.
IREE_API_EXPORT iree_status_t iree_async_semaphore_signal_untainted(
    iree_async_semaphore_t* semaphore, uint64_t value, const iree_async_frontier_t* frontier);
// Tells the frontier of a value before, or apart from, its signal.
IREE_API_EXPORT iree_status_t iree_async_semaphore_publish_untainted(
    iree_async_semaphore_t* semaphore, uint64_t value, const iree_async_frontier_t* frontier);
// False when the capacity is too small.
IREE_API_EXPORT bool iree_async_semaphore_merge_frontier(iree_async_semaphore_t* semaphore,
                                                         const iree_async_frontier_t* frontier);
IREE_API_EXPORT uint64_t
iree_async_semaphore_query_untainted_value(iree_async_semaphore_t* semaphore);

// For vtables' signal: advances the timeline without telling anyone, with the errors of
// iree_async_semaphore_signal.
IREE_API_EXPORT iree_status_t iree_async_semaphore_advance_timeline(
    iree_async_semaphore_t* semaphore, uint64_t value, const iree_async_frontier_t* frontier);
// Ends the timepoints that `value` reaches.
IREE_API_EXPORT void iree_async_semaphore_dispatch_timepoints(iree_async_semaphore_t* semaphore,
                                                              uint64_t value);
// Ends all timepoints with clones of `status`, which is taken.
IREE_API_EXPORT void
iree_async_semaphore_dispatch_timepoints_failed(iree_async_semaphore_t* semaphore,
                                                iree_status_t status);

// Blocks until all or any have reached their values. OK; DEADLINE_EXCEEDED; or, as soon as one has
// failed, the code of its failure. An empty list is OK.
IREE_API_EXPORT iree_status_t iree_async_semaphore_multi_wait(
    iree_async_wait_mode_t wait_mode, iree_async_semaphore_t** semaphores,
    const uint64_t* minimum_values, iree_host_size_t count, iree_timeout_t timeout,
    iree_async_wait_flags_t flags, iree_allocator_t allocator);

// Signals the semaphore once the handle is ready. The handle is taken on success.
IREE_API_EXPORT iree_status_t iree_async_semaphore_import_fence(iree_async_proactor_t* proactor,
                                                                iree_async_primitive_t fence,
                                                                iree_async_semaphore_t* semaphore,
                                                                uint64_t signal_value);
// A handle that becomes ready once the value is reached, or the semaphore has failed.
IREE_API_EXPORT iree_status_t iree_async_semaphore_export_fence(iree_async_proactor_t* proactor,
                                                                iree_async_semaphore_t* semaphore,
                                                                uint64_t wait_value,
                                                                iree_async_primitive_t* out_fence);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_SEMAPHORE_H_
