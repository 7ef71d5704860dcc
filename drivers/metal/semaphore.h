// iree_hal_semaphore_t: a timeline of the host, mirrored by an MTLSharedEvent for whom that serves.
#pragma once

#include "drivers/metal/objects.h"
#include "drivers/metal/promises.h"

namespace bessemer::metal_driver {

iree_status_t CreateSemaphore(MTL::Device* device, iree_async_proactor_t* proactor,
                              uint64_t initial_value, iree_allocator_t host_allocator,
                              iree_hal_semaphore_t** out_semaphore);

bool IsMetalSemaphore(iree_hal_semaphore_t* semaphore);

/// What work of the device will bring a semaphore to; NULL for semaphores of others, and of devices
/// other than `device`, whose events mean nothing here.
Promises* PromisesOf(iree_hal_semaphore_t* semaphore, MTL::Device* device);

/// An event that Metal work outside of the HAL can wait for and, with the next values, signal. Made
/// when first asked for; lives as long as the semaphore. A failed semaphore leaves it where it is:
/// no value stands for a failure.
MTL::SharedEvent* SharedEventOf(iree_hal_semaphore_t* semaphore);

/// What will raise a semaphore of this driver to `value` is held up until `earlier`, of this driver
/// too, is at `earlier_value`: who waits for the one waits for work of the other. Held until the
/// value is withdrawn.
void ExpectSignalAfter(iree_hal_semaphore_t* semaphore, uint64_t value,
                       iree_hal_semaphore_t* earlier, uint64_t earlier_value);
/// The value is about to be signaled, or never will be.
void WithdrawSignal(iree_hal_semaphore_t* semaphore, uint64_t value);

} // namespace bessemer::metal_driver
