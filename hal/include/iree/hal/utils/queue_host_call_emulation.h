#ifndef IREE_HAL_UTILS_QUEUE_HOST_CALL_EMULATION_H_
#define IREE_HAL_UTILS_QUEUE_HOST_CALL_EMULATION_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#if IREE_THREADING_ENABLE

/// A driver's queue_host_call: at once on this thread when the waits are over, on a thread of its
/// own later.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_emulated_host_call(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_host_call_t call,
    const uint64_t args[4], iree_hal_host_call_flags_t flags);
#endif

#ifdef __cplusplus
}
#endif
#endif
