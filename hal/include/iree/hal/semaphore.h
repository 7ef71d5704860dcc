#ifndef IREE_HAL_SEMAPHORE_H_
#define IREE_HAL_SEMAPHORE_H_

#include "iree/async/semaphore.h"
#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

/// What a semaphore has to be good for.
enum iree_hal_semaphore_flag_bits_t {
  IREE_HAL_SEMAPHORE_FLAG_NONE = 0ull,
  IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL = 1ull << 0,
  IREE_HAL_SEMAPHORE_FLAG_HOST_INTERRUPT = 1ull << 1,
  IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE = 1ull << 2,
  IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE_TIMEPOINTS = 1ull << 3,
  IREE_HAL_SEMAPHORE_FLAG_SINGLE_PRODUCER = 1ull << 4,
  IREE_HAL_SEMAPHORE_FLAG_DEFAULT =
      IREE_HAL_SEMAPHORE_FLAG_HOST_INTERRUPT | IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE_TIMEPOINTS,
};
typedef uint64_t iree_hal_semaphore_flags_t;

/// The largest value that a timeline may reach.
#define IREE_HAL_SEMAPHORE_MAX_VALUE (2147483647ull - 1)

/// Values from here on mean failure.
#define IREE_HAL_SEMAPHORE_FAILURE_VALUE (IREE_HAL_SEMAPHORE_MAX_VALUE + 1)

/// Set in a failure value that carries a status.
#define IREE_HAL_SEMAPHORE_FAILURE_VALUE_STATUS_BIT 0x8000000000000000ull

/// The failure value that carries `status`, which stays the semaphore's.
static inline uint64_t iree_hal_status_as_semaphore_failure(iree_status_t status) {
  // Statuses are pointers or codes whose top bit is never set on the platforms supported here.
  return IREE_HAL_SEMAPHORE_FAILURE_VALUE_STATUS_BIT | (uint64_t)(uintptr_t)status;
}

/// A copy of the status in a failure value; INTERNAL when it carries none, OK for other values.
static inline iree_status_t iree_hal_semaphore_failure_as_status(uint64_t value) {
  if (value < IREE_HAL_SEMAPHORE_FAILURE_VALUE)
    return iree_ok_status();
  if (value & IREE_HAL_SEMAPHORE_FAILURE_VALUE_STATUS_BIT) {
    // The semaphore keeps its own status; the caller gets a copy.
    return iree_status_clone(
        (iree_status_t)(uintptr_t)(value & ~IREE_HAL_SEMAPHORE_FAILURE_VALUE_STATUS_BIT));
  }
  return iree_make_status(IREE_STATUS_INTERNAL, "semaphore failed with no status recorded");
}

typedef uint32_t iree_hal_semaphore_compatibility_t;

/// Who can wait for a semaphore and signal it.
enum iree_hal_semaphore_compatibility_bits_t {
  IREE_HAL_SEMAPHORE_COMPATIBILITY_NONE = 0u,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_WAIT = 1u << 0,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT = 1u << 1,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_SIGNAL = 1u << 2,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_SIGNAL = 1u << 3,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_ONLY =
      IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_WAIT | IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_SIGNAL,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_ONLY =
      IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT | IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_SIGNAL,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL =
      IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_WAIT | IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT |
      IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_SIGNAL | IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_SIGNAL,
};

/// As iree_hal_memory_type_parse.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_compatibility_parse(
    iree_string_view_t value, iree_hal_semaphore_compatibility_t* out_value);

/// As iree_hal_memory_type_format.
IREE_API_EXPORT iree_string_view_t iree_hal_semaphore_compatibility_format(
    iree_hal_semaphore_compatibility_t value, iree_bitfield_string_temp_t* out_temp);

typedef enum iree_hal_external_timepoint_type_e {
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_NONE = 0,
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE,
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT,
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT,
} iree_hal_external_timepoint_type_t;

enum iree_hal_external_timepoint_flag_bits_t {
  IREE_HAL_EXTERNAL_TIMEPOINT_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_external_timepoint_flags_t;

/// A point on a timeline as a primitive of another API.
typedef struct iree_hal_external_timepoint_t {
  iree_hal_external_timepoint_type_t type;
  iree_hal_external_timepoint_flags_t flags;
  iree_hal_semaphore_compatibility_t compatibility;
  union {
    iree_async_primitive_t async_primitive;
    void* cuda_event;
    void* hip_event;
  } handle;
} iree_hal_external_timepoint_t;

typedef struct iree_hal_semaphore_t iree_hal_semaphore_t;

/// Makes a timeline that stands at `initial_value`.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_create(iree_hal_device_t* device,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        uint64_t initial_value,
                                                        iree_hal_semaphore_flags_t flags,
                                                        iree_hal_semaphore_t** out_semaphore);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_semaphore_retain(iree_hal_semaphore_t* semaphore);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_semaphore_release(iree_hal_semaphore_t* semaphore);

/// The value reached; a failed semaphore returns its failure and FAILURE_VALUE.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_query(iree_hal_semaphore_t* semaphore,
                                                       uint64_t* out_value);

/// Moves the timeline to `new_value`, which must be larger than where it stands
/// (INVALID_ARGUMENT). `frontier` (may be null) tells what has happened before.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_signal(iree_hal_semaphore_t* semaphore,
                                                        uint64_t new_value,
                                                        const iree_async_frontier_t* frontier);

/// Fails the timeline for good with `status`, which is taken; the first failure stays.
IREE_API_EXPORT void iree_hal_semaphore_fail(iree_hal_semaphore_t* semaphore, iree_status_t status);

/// Waits for a value. DEADLINE_EXCEEDED at the timeout; the code of a failure, also for values
/// reached before it.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_wait(iree_hal_semaphore_t* semaphore,
                                                      uint64_t value, iree_timeout_t timeout,
                                                      iree_async_wait_flags_t flags);

/// A wait source that resolves when the value is reached.
IREE_API_EXPORT iree_wait_source_t iree_hal_semaphore_await(iree_hal_semaphore_t* semaphore,
                                                            uint64_t value);

/// Signals `value` when an external primitive is signaled.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_import_timepoint(
    iree_hal_semaphore_t* semaphore, uint64_t value, iree_hal_queue_affinity_t queue_affinity,
    iree_hal_external_timepoint_t external_timepoint);

/// An external primitive that is signaled when `value` is reached.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_export_timepoint(
    iree_hal_semaphore_t* semaphore, uint64_t value, iree_hal_queue_affinity_t queue_affinity,
    iree_hal_external_timepoint_type_t requested_type,
    iree_hal_external_timepoint_flags_t requested_flags,
    iree_hal_external_timepoint_t* IREE_RESTRICT out_external_timepoint);

/// Timepoints: semaphores and a value for each. The arrays are the caller's.
typedef struct iree_hal_semaphore_list_t {
  iree_host_size_t count;
  iree_hal_semaphore_t** semaphores;
  uint64_t* payload_values;
} iree_hal_semaphore_list_t;

static inline iree_hal_semaphore_list_t iree_hal_semaphore_list_empty(void) {
  iree_hal_semaphore_list_t list;
  list.count = 0;
  list.semaphores = NULL;
  list.payload_values = NULL;
  return list;
}

static inline bool iree_hal_semaphore_list_is_empty(iree_hal_semaphore_list_t semaphore_list) {
  return semaphore_list.count == 0;
}

/// Retains every semaphore of the list.
IREE_API_EXPORT void iree_hal_semaphore_list_retain(iree_hal_semaphore_list_t semaphore_list);

/// Releases every semaphore of the list.
IREE_API_EXPORT void iree_hal_semaphore_list_release(iree_hal_semaphore_list_t semaphore_list);

/// Copies a list into one block and retains its semaphores; see iree_hal_semaphore_list_free.
IREE_API_EXPORT iree_status_t
iree_hal_semaphore_list_clone(const iree_hal_semaphore_list_t* source_list,
                              iree_allocator_t host_allocator, iree_hal_semaphore_list_t* out_list);

/// Releases and frees what iree_hal_semaphore_list_clone made.
IREE_API_EXPORT void iree_hal_semaphore_list_free(iree_hal_semaphore_list_t list,
                                                  iree_allocator_t host_allocator);

/// Whether all timepoints are reached and none has failed.
IREE_API_EXPORT bool iree_hal_semaphore_list_poll(iree_hal_semaphore_list_t semaphore_list);

/// Signals in order; stops at the first error.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_list_signal(
    iree_hal_semaphore_list_t semaphore_list, const iree_async_frontier_t* frontier);

/// Fails all semaphores with `signal_status`, which is taken.
IREE_API_EXPORT void iree_hal_semaphore_list_fail(iree_hal_semaphore_list_t semaphore_list,
                                                  iree_status_t signal_status);

/// Waits for all timepoints, as iree_hal_semaphore_wait.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_list_wait(iree_hal_semaphore_list_t semaphore_list,
                                                           iree_timeout_t timeout,
                                                           iree_async_wait_flags_t flags);

/// The driver's side. It begins with the async layer's, so that a HAL semaphore is one of those.
typedef struct iree_hal_semaphore_vtable_t {
  iree_async_semaphore_vtable_t async;
  iree_status_t(IREE_API_PTR* wait)(iree_hal_semaphore_t* semaphore, uint64_t value,
                                    iree_timeout_t timeout, iree_async_wait_flags_t flags);
  iree_status_t(IREE_API_PTR* import_timepoint)(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                iree_hal_queue_affinity_t queue_affinity,
                                                iree_hal_external_timepoint_t external_timepoint);
  iree_status_t(IREE_API_PTR* export_timepoint)(
      iree_hal_semaphore_t* semaphore, uint64_t value, iree_hal_queue_affinity_t queue_affinity,
      iree_hal_external_timepoint_type_t requested_type,
      iree_hal_external_timepoint_flags_t requested_flags,
      iree_hal_external_timepoint_t* IREE_RESTRICT out_external_timepoint);
} iree_hal_semaphore_vtable_t;

static_assert(offsetof(iree_hal_semaphore_vtable_t, async) == 0,
              "a HAL semaphore is an async semaphore");

static_assert(offsetof(iree_async_semaphore_vtable_t, destroy) == 0,
              "the first slot of every vtable destroys");

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_semaphore_destroy(iree_hal_semaphore_t* semaphore);

/// An async semaphore, known to be a HAL one, as that.
static inline iree_hal_semaphore_t*
iree_hal_semaphore_cast(iree_async_semaphore_t* async_semaphore) {
  return (iree_hal_semaphore_t*)async_semaphore;
}

/// Removes an entry; the last one takes its place.
IREE_API_EXPORT void iree_hal_semaphore_list_erase(iree_hal_semaphore_list_t* semaphore_list,
                                                   iree_host_size_t i);

#ifdef __cplusplus
}
#endif
#endif
