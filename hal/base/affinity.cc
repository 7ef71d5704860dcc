#include "iree/base/threading/affinity.h"

void iree_thread_affinity_set_any(iree_thread_affinity_t* out_thread_affinity) {
  *out_thread_affinity = {};
}

void iree_thread_affinity_set_group_any(uint32_t group,
                                        iree_thread_affinity_t* out_thread_affinity) {
  *out_thread_affinity = {};
  out_thread_affinity->group_any = 1;
  out_thread_affinity->group = group & 0xFF;
}
