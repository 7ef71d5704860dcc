#include "iree/base/threading/mutex.h"

// The analysis follows users of locks; in here it only sees words.
#define NO_ANALYSIS IREE_NO_THREAD_SAFETY_ANALYSIS

#if IREE_SYNCHRONIZATION_DISABLE_UNSAFE

void iree_mutex_initialize(iree_mutex_t* out_mutex) { *out_mutex = {}; }
void iree_mutex_deinitialize(iree_mutex_t*) {}
void iree_mutex_lock(iree_mutex_t*) NO_ANALYSIS {}
bool iree_mutex_try_lock(iree_mutex_t*) NO_ANALYSIS { return true; }
void iree_mutex_unlock(iree_mutex_t*) NO_ANALYSIS {}
void iree_slim_mutex_initialize(iree_slim_mutex_t* out_mutex) { *out_mutex = {}; }
void iree_slim_mutex_deinitialize(iree_slim_mutex_t*) {}
void iree_slim_mutex_lock(iree_slim_mutex_t*) NO_ANALYSIS {}
bool iree_slim_mutex_try_lock(iree_slim_mutex_t*) NO_ANALYSIS { return true; }
void iree_slim_mutex_unlock(iree_slim_mutex_t*) NO_ANALYSIS {}

#else

void iree_mutex_initialize(iree_mutex_t* out_mutex) {
  pthread_mutex_init(&out_mutex->value, nullptr);
}

void iree_mutex_deinitialize(iree_mutex_t* mutex) { pthread_mutex_destroy(&mutex->value); }

void iree_mutex_lock(iree_mutex_t* mutex) NO_ANALYSIS { pthread_mutex_lock(&mutex->value); }

bool iree_mutex_try_lock(iree_mutex_t* mutex) NO_ANALYSIS {
  return pthread_mutex_trylock(&mutex->value) == 0;
}

void iree_mutex_unlock(iree_mutex_t* mutex) NO_ANALYSIS { pthread_mutex_unlock(&mutex->value); }

#if defined(IREE_PLATFORM_APPLE)

void iree_slim_mutex_initialize(iree_slim_mutex_t* out_mutex) {
  out_mutex->value = OS_UNFAIR_LOCK_INIT;
}
void iree_slim_mutex_deinitialize(iree_slim_mutex_t*) {}
void iree_slim_mutex_lock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  os_unfair_lock_lock(&mutex->value);
}
bool iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  return os_unfair_lock_trylock(&mutex->value);
}
void iree_slim_mutex_unlock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  os_unfair_lock_unlock(&mutex->value);
}

#elif defined(IREE_RUNTIME_USE_FUTEX)

namespace {

// The word: free, held, or held with someone asleep on it.
constexpr int32_t kFree = 0;
constexpr int32_t kHeld = 1;
constexpr int32_t kContended = 2;

// Enough to see out a critical section of a few instructions on another core.
constexpr int kSpins = 64;

void Pause() {
#if defined(IREE_ARCH_X86_64)
  __builtin_ia32_pause();
#elif defined(IREE_ARCH_ARM_64)
  __asm__ volatile("yield");
#endif
}

} // namespace

void iree_slim_mutex_initialize(iree_slim_mutex_t* out_mutex) {
  iree_atomic_store(&out_mutex->value, kFree, iree_memory_order_relaxed);
}

void iree_slim_mutex_deinitialize(iree_slim_mutex_t*) {}

bool iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  int32_t expected = kFree;
  return iree_atomic_compare_exchange_strong(&mutex->value, &expected, kHeld,
                                             iree_memory_order_acquire, iree_memory_order_relaxed);
}

void iree_slim_mutex_lock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  for (int i = 0; i < kSpins; ++i) {
    if (iree_slim_mutex_try_lock(mutex))
      return;
    Pause();
  }
  // Whoever slept cannot know whether others still sleep, so it takes the lock as contended.
  while (iree_atomic_exchange(&mutex->value, kContended, iree_memory_order_acquire) != kFree) {
    iree_futex_wait(&mutex->value, kContended, IREE_TIME_INFINITE_FUTURE);
  }
}

void iree_slim_mutex_unlock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  if (iree_atomic_exchange(&mutex->value, kFree, iree_memory_order_release) == kContended) {
    iree_futex_wake(&mutex->value, 1);
  }
}

#else

void iree_slim_mutex_initialize(iree_slim_mutex_t* out_mutex) {
  iree_mutex_initialize(&out_mutex->impl);
}
void iree_slim_mutex_deinitialize(iree_slim_mutex_t* mutex) {
  iree_mutex_deinitialize(&mutex->impl);
}
void iree_slim_mutex_lock(iree_slim_mutex_t* mutex) NO_ANALYSIS { iree_mutex_lock(&mutex->impl); }
bool iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  return iree_mutex_try_lock(&mutex->impl);
}
void iree_slim_mutex_unlock(iree_slim_mutex_t* mutex) NO_ANALYSIS {
  iree_mutex_unlock(&mutex->impl);
}

#endif
#endif // IREE_SYNCHRONIZATION_DISABLE_UNSAFE
