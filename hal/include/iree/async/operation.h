// How waits for several things are combined and carried out.

#ifndef IREE_ASYNC_OPERATION_H_
#define IREE_ASYNC_OPERATION_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_async_wait_mode_e {
  IREE_ASYNC_WAIT_MODE_ALL = 0u,
  IREE_ASYNC_WAIT_MODE_ANY = 1u,
};
typedef uint8_t iree_async_wait_mode_t;

enum iree_async_wait_flag_bits_e {
  IREE_ASYNC_WAIT_FLAG_NONE = 0u,
  // Give the processor to others between checks.
  IREE_ASYNC_WAIT_FLAG_YIELD = 1u << 0,
  // Spin: the wait is known to be short.
  IREE_ASYNC_WAIT_FLAG_ACTIVE = 1u << 1,
};
typedef uint32_t iree_async_wait_flags_t;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_OPERATION_H_
