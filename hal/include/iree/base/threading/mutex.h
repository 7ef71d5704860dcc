// Locks. Neither is recursive.

#ifndef IREE_BASE_THREADING_MUTEX_H_
#define IREE_BASE_THREADING_MUTEX_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/futex.h"

#if !IREE_SYNCHRONIZATION_DISABLE_UNSAFE
#include <pthread.h>
#if defined(IREE_PLATFORM_APPLE)
#include <os/lock.h>
#endif
#endif

// clang's -Wthread-safety; C has no names for members in attributes, so C++ only.
#if defined(__cplusplus) && defined(__clang__)
#define IREE_THREAD_ANNOTATION_ATTRIBUTE(x) __attribute__((x))
#else
#define IREE_THREAD_ANNOTATION_ATTRIBUTE(x)
#endif
#ifdef __cplusplus
#define IREE_GUARDED_BY(x) IREE_THREAD_ANNOTATION_ATTRIBUTE(guarded_by(x))
#define IREE_PTR_GUARDED_BY(x) IREE_THREAD_ANNOTATION_ATTRIBUTE(pt_guarded_by(x))
#else
#define IREE_GUARDED_BY(x)
#define IREE_PTR_GUARDED_BY(x)
#endif
#define IREE_NO_THREAD_SAFETY_ANALYSIS IREE_THREAD_ANNOTATION_ATTRIBUTE(no_thread_safety_analysis)

#ifdef __cplusplus
extern "C" {
#endif

// A lock for longer critical sections.
typedef struct IREE_THREAD_ANNOTATION_ATTRIBUTE(capability("mutex")) iree_mutex_t {
#if IREE_SYNCHRONIZATION_DISABLE_UNSAFE
  int reserved;
#else
  pthread_mutex_t value;
#endif
} iree_mutex_t;

IREE_API_EXPORT void iree_mutex_initialize(iree_mutex_t* out_mutex);
IREE_API_EXPORT void iree_mutex_deinitialize(iree_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(locks_excluded(mutex));
IREE_API_EXPORT void iree_mutex_lock(iree_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(acquire_capability(mutex));
IREE_API_EXPORT bool iree_mutex_try_lock(iree_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(try_acquire_capability(true, mutex));
IREE_API_EXPORT void iree_mutex_unlock(iree_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(release_capability(mutex));

// A lock of one word for sections of a few instructions. Zeroed memory is an unlocked one.
typedef struct IREE_THREAD_ANNOTATION_ATTRIBUTE(capability("mutex")) iree_slim_mutex_t {
#if IREE_SYNCHRONIZATION_DISABLE_UNSAFE
  int reserved;
#elif defined(IREE_PLATFORM_APPLE)
  os_unfair_lock value;
#elif defined(IREE_RUNTIME_USE_FUTEX)
  iree_atomic_int32_t value;
#else
  iree_mutex_t impl;
#endif
} iree_slim_mutex_t;

IREE_API_EXPORT void iree_slim_mutex_initialize(iree_slim_mutex_t* out_mutex);
IREE_API_EXPORT void iree_slim_mutex_deinitialize(iree_slim_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(locks_excluded(mutex));
IREE_API_EXPORT void iree_slim_mutex_lock(iree_slim_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(acquire_capability(mutex));
IREE_API_EXPORT bool iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(try_acquire_capability(true, mutex));
IREE_API_EXPORT void iree_slim_mutex_unlock(iree_slim_mutex_t* mutex)
    IREE_THREAD_ANNOTATION_ATTRIBUTE(release_capability(mutex));

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_THREADING_MUTEX_H_
