// Sizes, alignments and unaligned loads.

#ifndef IREE_BASE_ALIGNMENT_H_
#define IREE_BASE_ALIGNMENT_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/attributes.h"
#include "iree/base/config.h"
#include "iree/base/target_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

static_assert(sizeof(void*) == sizeof(uintptr_t), "pointers must fit uintptr_t");
#if UINTPTR_MAX == 0xFFFFFFFFu
#define IREE_PTR_SIZE_32
#define IREE_PTR_SIZE 4
#else
#define IREE_PTR_SIZE_64
#define IREE_PTR_SIZE 8
#endif

#define IREE_ARRAYSIZE(arr) (sizeof(arr) / sizeof((arr)[0]))

// Both arguments may be evaluated twice.
#define iree_min(lhs, rhs) ((lhs) <= (rhs) ? (lhs) : (rhs))
#define iree_max(lhs, rhs) ((lhs) <= (rhs) ? (rhs) : (lhs))

// The strictest alignment that a fundamental type needs.
#define iree_max_align_t sizeof(long double)
#define iree_alignas(x) __attribute__((__aligned__(x)))
#define iree_alignof(x) __alignof__(x)

// From a pointer to a member to the struct that holds it.
#define iree_containerof(ptr, type, member) ((type*)((char*)(ptr) - offsetof(type, member)))

// The size of a struct with what would follow it aligned for anything.
#define iree_sizeof_struct(t) iree_host_align(sizeof(t), iree_max_align_t)

// Alignments are powers of two.

static inline iree_host_size_t iree_host_align(iree_host_size_t value, iree_host_size_t alignment) {
  return (value + (alignment - 1)) & ~(alignment - 1);
}

static inline iree_device_size_t iree_device_align(iree_device_size_t value,
                                                   iree_device_size_t alignment) {
  return (value + (alignment - 1)) & ~(alignment - 1);
}

static inline uint64_t iree_align_uint64(uint64_t value, uint64_t alignment) {
  return (value + (alignment - 1)) & ~(alignment - 1);
}

// Zero counts as a power of two in these; as an alignment it is not valid.
static inline bool iree_is_power_of_two_uint64(uint64_t value) {
  return (value & (value - 1)) == 0;
}

static inline bool iree_host_size_is_power_of_two(iree_host_size_t value) {
  return (value & (value - 1)) == 0;
}

static inline bool iree_device_size_is_power_of_two(iree_device_size_t value) {
  return (value & (value - 1)) == 0;
}

static inline bool iree_host_size_is_valid_alignment(iree_host_size_t alignment) {
  return alignment != 0 && iree_host_size_is_power_of_two(alignment);
}

static inline bool iree_device_size_is_valid_alignment(iree_device_size_t alignment) {
  return alignment != 0 && iree_device_size_is_power_of_two(alignment);
}

static inline bool iree_host_size_has_alignment(iree_host_size_t value,
                                                iree_host_size_t alignment) {
  return (value & (alignment - 1)) == 0;
}

static inline bool iree_device_size_has_alignment(iree_device_size_t value,
                                                  iree_device_size_t alignment) {
  return (value & (alignment - 1)) == 0;
}

static inline bool iree_host_ptr_has_alignment(const void* ptr, iree_host_size_t alignment) {
  return ((uintptr_t)ptr & (alignment - 1)) == 0;
}

// The smallest power of two that is not less than `value`; 0 stays 0.
static inline uint64_t iree_round_up_to_power_of_two_(uint64_t value) {
  if (value <= 1)
    return value;
  return (uint64_t)1 << (64 - __builtin_clzll(value - 1));
}

static inline iree_host_size_t iree_host_size_next_power_of_two(iree_host_size_t value) {
  return (iree_host_size_t)iree_round_up_to_power_of_two_(value);
}

static inline iree_device_size_t iree_device_size_next_power_of_two(iree_device_size_t value) {
  return (iree_device_size_t)iree_round_up_to_power_of_two_(value);
}

static inline iree_host_size_t iree_host_size_ceil_div(iree_host_size_t lhs, iree_host_size_t rhs) {
  return lhs / rhs + (lhs % rhs != 0);
}

static inline iree_host_size_t iree_host_size_floor_div(iree_host_size_t lhs,
                                                        iree_host_size_t rhs) {
  return lhs / rhs;
}

static inline iree_device_size_t iree_device_size_ceil_div(iree_device_size_t lhs,
                                                           iree_device_size_t rhs) {
  return lhs / rhs + (lhs % rhs != 0);
}

static inline iree_device_size_t iree_device_size_floor_div(iree_device_size_t lhs,
                                                            iree_device_size_t rhs) {
  return lhs / rhs;
}

static inline iree_device_size_t iree_device_size_gcd(iree_device_size_t a, iree_device_size_t b) {
  while (b != 0) {
    iree_device_size_t remainder = a % b;
    a = b;
    b = remainder;
  }
  return a;
}

static inline iree_device_size_t iree_device_size_lcm(iree_device_size_t a, iree_device_size_t b) {
  if (a == 0)
    return b;
  if (b == 0)
    return a;
  return a / iree_device_size_gcd(a, b) * b;
}

typedef struct iree_byte_range_t {
  iree_host_size_t offset;
  iree_host_size_t length;
} iree_byte_range_t;

// A byte range whose ends lie on page boundaries.
typedef struct iree_page_range_t {
  iree_host_size_t offset;
  iree_host_size_t length;
} iree_page_range_t;

static inline uintptr_t iree_page_align_start(uintptr_t addr, iree_host_size_t page_alignment) {
  return addr & ~((uintptr_t)page_alignment - 1);
}

static inline uintptr_t iree_page_align_end(uintptr_t addr, iree_host_size_t page_alignment) {
  return iree_page_align_start(addr + (page_alignment - 1), page_alignment);
}

// The smallest range that holds both.
static inline iree_page_range_t iree_page_range_union(const iree_page_range_t a,
                                                      const iree_page_range_t b) {
  iree_host_size_t end = iree_max(a.offset + a.length, b.offset + b.length);
  iree_page_range_t range;
  range.offset = iree_min(a.offset, b.offset);
  range.length = end - range.offset;
  return range;
}

static inline iree_page_range_t iree_align_byte_range_to_pages(const iree_byte_range_t byte_range,
                                                               iree_host_size_t page_alignment) {
  iree_page_range_t range;
  range.offset = iree_page_align_start(byte_range.offset, page_alignment);
  range.length =
      iree_page_align_end(byte_range.offset + byte_range.length, page_alignment) - range.offset;
  return range;
}

static inline void iree_page_align_range(void* base_address, iree_byte_range_t range,
                                         iree_host_size_t page_alignment, void** out_start_address,
                                         iree_host_size_t* out_aligned_length) {
  uintptr_t begin = (uintptr_t)base_address + range.offset;
  uintptr_t start = iree_page_align_start(begin, page_alignment);
  *out_start_address = (void*)start;
  *out_aligned_length = iree_page_align_end(begin + range.length, page_alignment) - start;
}

#define IREE_BUILTIN_UNREACHABLE() __builtin_unreachable()

#if defined(__cplusplus)
#define IREE_DECLTYPE(v) decltype(v)
#else
#define IREE_DECLTYPE(v) __typeof__(v)
#endif

// Tells the compiler that `ptr`, a variable, is aligned; an assertion in debug builds.
#define IREE_BUILTIN_ASSUME_ALIGNED(ptr, size)                                                     \
  do {                                                                                             \
    assert((uintptr_t)(ptr) % (size) == 0);                                                        \
    (ptr) = (IREE_DECLTYPE(ptr))__builtin_assume_aligned((void*)(ptr), (size));                    \
  } while (false)

// Little-endian loads and stores at any address. memcpy compiles to one instruction where the
// machine allows it.
#define IREE_DEFINE_UNALIGNED_(suffix, type)                                                       \
  static inline type iree_unaligned_load_le_##suffix(const type* ptr) {                            \
    type value;                                                                                    \
    memcpy(&value, (const void*)ptr, sizeof(value));                                               \
    return value;                                                                                  \
  }                                                                                                \
  static inline void iree_unaligned_store_le_##suffix(type* ptr, type value) {                     \
    memcpy((void*)ptr, &value, sizeof(value));                                                     \
  }
IREE_DEFINE_UNALIGNED_(u8, uint8_t)
IREE_DEFINE_UNALIGNED_(u16, uint16_t)
IREE_DEFINE_UNALIGNED_(u32, uint32_t)
IREE_DEFINE_UNALIGNED_(u64, uint64_t)
IREE_DEFINE_UNALIGNED_(f32, float)
IREE_DEFINE_UNALIGNED_(f64, double)
#undef IREE_DEFINE_UNALIGNED_

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_ALIGNMENT_H_
