// Atomic operations by clang's builtins. Include iree/base/internal/atomics.h.

#ifndef IREE_BASE_INTERNAL_ATOMICS_CLANG_H_
#define IREE_BASE_INTERNAL_ATOMICS_CLANG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iree_memory_order_e {
  iree_memory_order_relaxed = __ATOMIC_RELAXED,
  iree_memory_order_consume = __ATOMIC_CONSUME,
  iree_memory_order_acquire = __ATOMIC_ACQUIRE,
  iree_memory_order_release = __ATOMIC_RELEASE,
  iree_memory_order_acq_rel = __ATOMIC_ACQ_REL,
  iree_memory_order_seq_cst = __ATOMIC_SEQ_CST,
} iree_memory_order_t;

#define IREE_ATOMIC_VAR_INIT(value) (value)

typedef _Atomic int32_t iree_atomic_int32_t;
typedef _Atomic int64_t iree_atomic_int64_t;
typedef _Atomic uint32_t iree_atomic_uint32_t;
typedef _Atomic uint64_t iree_atomic_uint64_t;
typedef _Atomic intptr_t iree_atomic_intptr_t;

#define iree_atomic_thread_fence(order) __c11_atomic_thread_fence(order)
#define iree_atomic_load(object, order) __c11_atomic_load((object), (order))
#define iree_atomic_store(object, desired, order) __c11_atomic_store((object), (desired), (order))
#define iree_atomic_exchange(object, operand, order)                                               \
  __c11_atomic_exchange((object), (operand), (order))
#define iree_atomic_fetch_add(object, operand, order)                                              \
  __c11_atomic_fetch_add((object), (operand), (order))
#define iree_atomic_fetch_sub(object, operand, order)                                              \
  __c11_atomic_fetch_sub((object), (operand), (order))
#define iree_atomic_fetch_and(object, operand, order)                                              \
  __c11_atomic_fetch_and((object), (operand), (order))
#define iree_atomic_fetch_or(object, operand, order)                                               \
  __c11_atomic_fetch_or((object), (operand), (order))
#define iree_atomic_fetch_xor(object, operand, order)                                              \
  __c11_atomic_fetch_xor((object), (operand), (order))
// `expected` points at the value to compare with and receives the present one on failure.
#define iree_atomic_compare_exchange_strong(object, expected, desired, order_succ, order_fail)     \
  __c11_atomic_compare_exchange_strong((object), (expected), (desired), (order_succ), (order_fail))
#define iree_atomic_compare_exchange_weak(object, expected, desired, order_succ, order_fail)       \
  __c11_atomic_compare_exchange_weak((object), (expected), (desired), (order_succ), (order_fail))

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_INTERNAL_ATOMICS_CLANG_H_
