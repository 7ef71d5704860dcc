// iree_hal_semaphore_t: a timeline of the host, mirrored by an MTLSharedEvent for whom that serves.
#pragma once

#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

iree_status_t CreateSemaphore(MTL::Device* device, iree_async_proactor_t* proactor,
                              uint64_t initial_value, iree_allocator_t host_allocator,
                              iree_hal_semaphore_t** out_semaphore);

bool IsMetalSemaphore(iree_hal_semaphore_t* semaphore);

/// An event that Metal work outside of the HAL can wait for and, with the next values, signal. Made
/// when first asked for; lives as long as the semaphore. A failed semaphore leaves it where it is:
/// no value stands for a failure.
MTL::SharedEvent* SharedEventOf(iree_hal_semaphore_t* semaphore);

/// What will raise a semaphore of this driver to `value`: a thread that waits for that long enough
/// waits for the command buffer itself, in which Metal may run the work and its handlers on that
/// very thread. Held until the value is withdrawn. `commands` may be committed after this.
void ExpectSignal(iree_hal_semaphore_t* semaphore, uint64_t value, MTL::CommandBuffer* commands);
/// The same for work that itself waits for `earlier`, of this driver too.
void ExpectSignalAfter(iree_hal_semaphore_t* semaphore, uint64_t value,
                       iree_hal_semaphore_t* earlier, uint64_t earlier_value);
/// The value is about to be signaled, or never will be.
void WithdrawSignal(iree_hal_semaphore_t* semaphore, uint64_t value);

} // namespace bessemer::metal_driver
