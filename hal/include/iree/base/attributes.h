// Function and variable attributes that C11, C++17, clang and gcc spell differently.

#ifndef IREE_BASE_ATTRIBUTES_H_
#define IREE_BASE_ATTRIBUTES_H_

#include "iree/base/target_platform.h"

// Linkage of the API: C, from either language.
#if defined(__cplusplus)
#define IREE_API_EXPORT extern "C"
#define IREE_API_EXPORT_VARIABLE extern "C"
#else
#define IREE_API_EXPORT
#define IREE_API_EXPORT_VARIABLE extern
#endif

// Calling convention of function pointers in the API: the platform's own.
#define IREE_API_PTR

#if defined(__has_attribute)
#define IREE_HAVE_ATTRIBUTE(x) __has_attribute(x)
#else
#define IREE_HAVE_ATTRIBUTE(x) 0
#endif
#if defined(__has_builtin)
#define IREE_HAVE_BUILTIN(x) __has_builtin(x)
#else
#define IREE_HAVE_BUILTIN(x) 0
#endif

// Arguments counted from 1; a first_to_check of 0 means a va_list.
#define IREE_PRINTF_ATTRIBUTE(string_index, first_to_check)                                        \
  __attribute__((__format__(__printf__, string_index, first_to_check)))

#define IREE_ATTRIBUTE_NORETURN __attribute__((noreturn))
#define IREE_MUST_USE_RESULT __attribute__((warn_unused_result))
#define IREE_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline))
#define IREE_ATTRIBUTE_NOINLINE __attribute__((noinline))
#define IREE_ATTRIBUTE_HOT __attribute__((hot))
#define IREE_ATTRIBUTE_COLD __attribute__((cold))
#define IREE_ATTRIBUTE_PACKED __attribute__((__packed__))
#define IREE_ATTRIBUTE_UNUSED __attribute__((unused))
#define IREE_ATTRIBUTE_WEAK __attribute__((weak))
#define IREE_HAVE_ATTRIBUTE_WEAK 1

#if defined(__cplusplus)
#define IREE_RESTRICT __restrict__
#else
#define IREE_RESTRICT restrict
#endif

#define IREE_LIKELY(x) (__builtin_expect(!!(x), 1))
#define IREE_UNLIKELY(x) (__builtin_expect(!!(x), 0))

// How far up the cache hierarchy a prefetched line should come.
enum {
  IREE_BUILTIN_PREFETCH_LOCALITY_NONE = 0,
  IREE_BUILTIN_PREFETCH_LOCALITY_L3 = 1,
  IREE_BUILTIN_PREFETCH_LOCALITY_L2 = 2,
  IREE_BUILTIN_PREFETCH_LOCALITY_L1 = 3,
};
#define IREE_BUILTIN_PREFETCH_RO(ptr, hint) __builtin_prefetch((ptr), 0, hint)
#define IREE_BUILTIN_PREFETCH_RW(ptr, hint) __builtin_prefetch((ptr), 1, hint)

#endif // IREE_BASE_ATTRIBUTES_H_
