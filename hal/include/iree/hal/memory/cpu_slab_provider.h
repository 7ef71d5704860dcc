#ifndef IREE_HAL_MEMORY_CPU_SLAB_PROVIDER_H_
#define IREE_HAL_MEMORY_CPU_SLAB_PROVIDER_H_

#include "iree/base/api.h"
#include "iree/hal/memory/slab_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes a provider of host memory.
iree_status_t iree_hal_cpu_slab_provider_create(iree_allocator_t host_allocator,
                                                iree_hal_slab_provider_t** out_provider);

#ifdef __cplusplus
}
#endif
#endif
