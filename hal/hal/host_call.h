#pragma once

#include "iree/hal/device.h"

namespace bessemer::hal {

/// Runs a host call whose waits are over and settles `signals`: they are signaled when the call
/// returns OK, failed with what else it returns, and left to the callee when it is DEFERRED. A
/// non-blocking call is made after the signals, without access to them.
void runHostCall(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity,
                 iree_hal_semaphore_list_t signals, iree_hal_host_call_t call,
                 const uint64_t args[4], iree_hal_host_call_flags_t flags,
                 const iree_async_frontier_t* frontier);

} // namespace bessemer::hal
