// The executor of asynchronous operations of the operating system.
//
// Drivers only hand one on: waits and file transfers here run on threads of their own, so a
// proactor is an identity with options and no event loop.

#ifndef IREE_ASYNC_PROACTOR_H_
#define IREE_ASYNC_PROACTOR_H_

#include "iree/async/operation.h"
#include "iree/async/primitive.h"
#include "iree/async/types.h"
#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_file_t iree_async_file_t;
typedef struct iree_async_notification_t iree_async_notification_t;
typedef struct iree_async_semaphore_t iree_async_semaphore_t;

// What a proactor may use of the system.
enum iree_async_proactor_capability_bits_e {
  IREE_ASYNC_PROACTOR_CAPABILITY_NONE = 0u,
  IREE_ASYNC_PROACTOR_CAPABILITY_ALL = ~0u,
};
typedef uint32_t iree_async_proactor_capabilities_t;

typedef enum iree_async_proactor_threading_mode_e {
  IREE_ASYNC_PROACTOR_THREADING_SAME_THREAD = 0,
  IREE_ASYNC_PROACTOR_THREADING_CROSS_THREAD = 1,
} iree_async_proactor_threading_mode_t;

typedef struct iree_async_proactor_options_t {
  // 0 means the implementation's choice.
  iree_host_size_t max_concurrent_operations;
  iree_string_view_t debug_name;
  iree_async_proactor_capabilities_t allowed_capabilities;
  iree_host_size_t message_pool_capacity;
  iree_async_proactor_threading_mode_t threading_mode;
} iree_async_proactor_options_t;

static inline iree_async_proactor_options_t iree_async_proactor_options_default(void) {
  iree_async_proactor_options_t options;
  memset(&options, 0, sizeof(options));
  options.allowed_capabilities = IREE_ASYNC_PROACTOR_CAPABILITY_ALL;
  return options;
}

IREE_API_EXPORT void iree_async_proactor_retain(iree_async_proactor_t* proactor);
IREE_API_EXPORT void iree_async_proactor_release(iree_async_proactor_t* proactor);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_PROACTOR_H_
