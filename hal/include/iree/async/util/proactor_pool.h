// One proactor for each memory node of the machine, made when first asked for.

#ifndef IREE_ASYNC_UTIL_PROACTOR_POOL_H_
#define IREE_ASYNC_UTIL_PROACTOR_POOL_H_

#include "iree/async/proactor.h"
#include "iree/async/util/proactor_pool_types.h"
#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_proactor_pool_options_t {
  iree_async_proactor_options_t proactor_options;
  iree_async_proactor_pool_runner_factory_t runner;
} iree_async_proactor_pool_options_t;

iree_async_proactor_pool_options_t iree_async_proactor_pool_options_default(void);

typedef struct iree_async_proactor_pool_t iree_async_proactor_pool_t;

// `node_ids` may be NULL: then they are 0, 1, ... At least one node.
iree_status_t iree_async_proactor_pool_create(iree_host_size_t node_count, const uint32_t* node_ids,
                                              iree_async_proactor_pool_options_t options,
                                              iree_allocator_t allocator,
                                              iree_async_proactor_pool_t** out_pool);
void iree_async_proactor_pool_retain(iree_async_proactor_pool_t* pool);
void iree_async_proactor_pool_release(iree_async_proactor_pool_t* pool);

iree_host_size_t iree_async_proactor_pool_count(const iree_async_proactor_pool_t* pool);
// The pool keeps the proactor; retain it to keep it longer. OUT_OF_RANGE.
iree_status_t iree_async_proactor_pool_get(iree_async_proactor_pool_t* pool, iree_host_size_t index,
                                           iree_async_proactor_t** out_proactor);
uint32_t iree_async_proactor_pool_node_id(const iree_async_proactor_pool_t* pool,
                                          iree_host_size_t index);
// The proactor of a node, or any when it has none.
iree_status_t iree_async_proactor_pool_get_for_node(iree_async_proactor_pool_t* pool,
                                                    uint32_t node_id,
                                                    iree_async_proactor_t** out_proactor);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_UTIL_PROACTOR_POOL_H_
