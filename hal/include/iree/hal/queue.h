#ifndef IREE_HAL_QUEUE_H_
#define IREE_HAL_QUEUE_H_

#include "iree/base/api.h"
#include "iree/base/internal/math.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A set of queues, one bit each; what a bit stands for is the device's choice.
typedef uint64_t iree_hal_queue_affinity_t;

/// Any queue of the device.
#define IREE_HAL_QUEUE_AFFINITY_ANY ((iree_hal_queue_affinity_t)(-1))

/// Queues that a set can name.
#define IREE_HAL_MAX_QUEUES (sizeof(iree_hal_queue_affinity_t) * 8)

#define iree_hal_queue_affinity_is_empty(queue_affinity) ((queue_affinity) == 0)

#define iree_hal_queue_affinity_is_any(queue_affinity)                                             \
  ((queue_affinity) == IREE_HAL_QUEUE_AFFINITY_ANY)

#define iree_hal_queue_affinity_count(queue_affinity) iree_math_count_ones_u64(queue_affinity)

#define iree_hal_queue_affinity_find_first_set(queue_affinity)                                     \
  iree_math_count_trailing_zeros_u64(queue_affinity)

#define iree_hal_queue_affinity_shr(queue_affinity, amount) iree_shr((queue_affinity), (amount))

#define iree_hal_queue_affinity_and_into(inout_affinity, mask_affinity)                            \
  (inout_affinity) = ((inout_affinity) & (mask_affinity))

#define iree_hal_queue_affinity_or_into(inout_affinity, mask_affinity)                             \
  (inout_affinity) = ((inout_affinity) | (mask_affinity))

#define IREE_HAL_FOR_QUEUE_AFFINITY(queue_affinity)                                                \
  iree_hal_queue_affinity_t _queue_bits = (queue_affinity);                                        \
  for (int queue_index = 0, _queue_ordinal_base = 0,                                               \
           queue_count = iree_hal_queue_affinity_count(_queue_bits), _bit_offset = 0,              \
           queue_ordinal = iree_hal_queue_affinity_find_first_set(_queue_bits);                    \
       queue_index < queue_count; ++queue_index, _queue_ordinal_base += _bit_offset + 1,           \
           _queue_bits = iree_hal_queue_affinity_shr(_queue_bits, _bit_offset + 1),                \
           _bit_offset = iree_hal_queue_affinity_find_first_set(_queue_bits),                      \
           queue_ordinal = _queue_ordinal_base + _bit_offset)

#ifdef __cplusplus
}
#endif
#endif
