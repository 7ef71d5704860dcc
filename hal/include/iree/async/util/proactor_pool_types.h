// What runs the proactors of a pool.

#ifndef IREE_ASYNC_UTIL_PROACTOR_POOL_TYPES_H_
#define IREE_ASYNC_UTIL_PROACTOR_POOL_TYPES_H_

#include "iree/async/proactor.h"
#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes one runner for each proactor. With a NULL `create` there are none.
typedef struct iree_async_proactor_pool_runner_factory_t {
  void* user_data;
  iree_status_t (*create)(void* user_data, iree_async_proactor_t* proactor, uint32_t node_id,
                          iree_allocator_t allocator, void** out_runner);
  // Asks all to stop, before each is destroyed.
  void (*request_stop)(void* user_data, void** runners, iree_host_size_t count);
  void (*destroy)(void* user_data, void* runner);
} iree_async_proactor_pool_runner_factory_t;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_UTIL_PROACTOR_POOL_TYPES_H_
