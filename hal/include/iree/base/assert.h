// Assertions about the program's own mistakes. Messages are for the reader of the source; a failed
// assertion prints the condition. With NDEBUG nothing is evaluated.

#ifndef IREE_BASE_ASSERT_H_
#define IREE_BASE_ASSERT_H_

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "iree/base/attributes.h"
#include "iree/base/config.h"

#ifdef __cplusplus
extern "C" {
#endif

// Ends the process when an invariant is broken beyond repair.
IREE_ATTRIBUTE_NORETURN static inline void iree_abort(void) { abort(); }

#if defined(NDEBUG)
// The operands stay in an unevaluated operand, so that variables used only here raise no warning.
#define IREE_ASSERT(condition, ...) ((void)sizeof((condition) ? 1 : 0))
#else
#define IREE_ASSERT(condition, ...) assert(condition)
#endif

#define IREE_ASSERT_ARGUMENT(name) IREE_ASSERT(name)
#define IREE_ASSERT_TRUE(expr, ...) IREE_ASSERT(!!(expr))
#define IREE_ASSERT_FALSE(expr, ...) IREE_ASSERT(!(expr))
#define IREE_ASSERT_UNREACHABLE(...) IREE_ASSERT(false)
#define IREE_ASSERT_EQ(x, y, ...) IREE_ASSERT((x) == (y))
#define IREE_ASSERT_NE(x, y, ...) IREE_ASSERT((x) != (y))
#define IREE_ASSERT_LE(x, y, ...) IREE_ASSERT((x) <= (y))
#define IREE_ASSERT_LT(x, y, ...) IREE_ASSERT((x) < (y))
#define IREE_ASSERT_GE(x, y, ...) IREE_ASSERT((x) >= (y))
#define IREE_ASSERT_GT(x, y, ...) IREE_ASSERT((x) > (y))
#define IREE_ASSERT_ALIGNED(x, alignment, ...)                                                     \
  IREE_ASSERT(((uintptr_t)(x) & ((uintptr_t)(alignment) - 1)) == 0)

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_ASSERT_H_
