// Where a thread may run.

#ifndef IREE_BASE_THREADING_AFFINITY_H_
#define IREE_BASE_THREADING_AFFINITY_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// All zero: anywhere.
typedef struct iree_thread_affinity_t {
  // Any processor of `group`.
  uint32_t group_any : 1;
  // NUMA node.
  uint32_t group : 8;
  uint32_t reserved : 23;
  // Processor `id`.
  uint32_t id_assigned : 1;
  uint32_t id : 30;
  // Also the siblings that share its core.
  uint32_t smt : 1;
} iree_thread_affinity_t;

IREE_API_EXPORT void iree_thread_affinity_set_any(iree_thread_affinity_t* out_thread_affinity);

static inline bool iree_thread_affinity_is_unspecified(iree_thread_affinity_t thread_affinity) {
  return thread_affinity.group_any == 0 && thread_affinity.id_assigned == 0;
}

IREE_API_EXPORT void
iree_thread_affinity_set_group_any(uint32_t group, iree_thread_affinity_t* out_thread_affinity);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_THREADING_AFFINITY_H_
