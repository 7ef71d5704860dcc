// Atomic integers and reference counts, in the manner of C11's <stdatomic.h>, from C and C++.

#ifndef IREE_BASE_INTERNAL_ATOMICS_H_
#define IREE_BASE_INTERNAL_ATOMICS_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "iree/base/assert.h"
#include "iree/base/config.h"
#include "iree/base/target_platform.h"

#if defined(IREE_COMPILER_CLANG)
#include "iree/base/internal/atomics_clang.h"
#else
#include "iree/base/internal/atomics_gcc.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// How far apart in bytes values must lie so that cores do not fight for one cache line.
#define iree_hardware_destructive_interference_size 64
#define iree_hardware_constructive_interference_size 64

typedef iree_atomic_int32_t iree_atomic_ref_count_t;

#define iree_atomic_ref_count_init_value(count_ptr, value)                                         \
  iree_atomic_store((count_ptr), (value), iree_memory_order_relaxed)
#define iree_atomic_ref_count_init(count_ptr) iree_atomic_ref_count_init_value((count_ptr), 1)
#define iree_atomic_ref_count_inc(count_ptr)                                                       \
  ((void)iree_atomic_fetch_add((count_ptr), 1, iree_memory_order_relaxed))
// Gives the count before the decrement: 1 tells the caller to destroy the object, and the order
// makes all writes of other owners visible to it.
#define iree_atomic_ref_count_dec(count_ptr)                                                       \
  iree_atomic_fetch_sub((count_ptr), 1, iree_memory_order_acq_rel)
#define iree_atomic_ref_count_load(count_ptr)                                                      \
  iree_atomic_load((count_ptr), iree_memory_order_acquire)
#define iree_atomic_ref_count_abort_if_uses(count_ptr)                                             \
  do {                                                                                             \
    if (IREE_UNLIKELY(iree_atomic_ref_count_load(count_ptr) != 1))                                 \
      iree_abort();                                                                                \
  } while (false)
#define IREE_ASSERT_REF_COUNT_ZERO(count_ptr)                                                      \
  IREE_ASSERT_EQ(iree_atomic_ref_count_load(count_ptr), 0)

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_INTERNAL_ATOMICS_H_
