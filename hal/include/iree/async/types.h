// Types of iree/async that others only name.

#ifndef IREE_ASYNC_TYPES_H_
#define IREE_ASYNC_TYPES_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_proactor_t iree_async_proactor_t;
typedef struct iree_async_region_t iree_async_region_t;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_TYPES_H_
