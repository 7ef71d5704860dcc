// Where asynchronous work should run.

#ifndef IREE_ASYNC_AFFINITY_H_
#define IREE_ASYNC_AFFINITY_H_

#include "iree/base/api.h"
#include "iree/base/threading/affinity.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_ASYNC_AFFINITY_NUMA_NODE_ANY UINT32_MAX

typedef struct iree_async_affinity_t {
  uint32_t id;
  iree_thread_affinity_t cpu_affinity;
  uint32_t numa_node;
  void* user_context;
} iree_async_affinity_t;

static inline iree_async_affinity_t iree_async_affinity_any(void) {
  iree_async_affinity_t affinity;
  memset(&affinity, 0, sizeof(affinity));
  affinity.numa_node = IREE_ASYNC_AFFINITY_NUMA_NODE_ANY;
  return affinity;
}

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_AFFINITY_H_
