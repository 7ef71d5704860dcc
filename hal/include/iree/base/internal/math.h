#ifndef IREE_BASE_INTERNAL_MATH_H_
#define IREE_BASE_INTERNAL_MATH_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Zero bits above the highest set one; the width of the type for zero.
static inline int iree_math_count_leading_zeros_u32(uint32_t value) {
  return value ? __builtin_clz(value) : 32;
}

static inline int iree_math_count_leading_zeros_u64(uint64_t value) {
  return value ? __builtin_clzll(value) : 64;
}

/// Zero bits below the lowest set one; the width of the type for zero.
static inline int iree_math_count_trailing_zeros_u32(uint32_t value) {
  return value ? __builtin_ctz(value) : 32;
}

static inline int iree_math_count_trailing_zeros_u64(uint64_t value) {
  return value ? __builtin_ctzll(value) : 64;
}

/// Set bits.
static inline int iree_math_count_ones_u32(uint32_t value) { return __builtin_popcount(value); }

static inline int iree_math_count_ones_u64(uint64_t value) { return __builtin_popcountll(value); }

/// The smallest power of two that is not less than `value`; zero when there is none in range.
static inline uint32_t iree_math_round_up_to_pow2_u32(uint32_t value) {
  return value <= 1
             ? value
             : (uint32_t)(UINT64_C(1) << (32 - iree_math_count_leading_zeros_u32(value - 1)));
}

static inline uint64_t iree_math_round_up_to_pow2_u64(uint64_t value) {
  if (value <= 1)
    return value;
  const int bits = 64 - iree_math_count_leading_zeros_u64(value - 1);
  return bits < 64 ? UINT64_C(1) << bits : 0;
}

#ifdef __cplusplus
}
#endif

#endif // IREE_BASE_INTERNAL_MATH_H_
