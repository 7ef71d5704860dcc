#pragma once

#include "iree/hal/semaphore.h"

namespace bessemer::hal::host {

/// A timeline that lives on the host only.
iree_status_t createSemaphore(iree_async_proactor_t* proactor, uint64_t initialValue,
                              iree_allocator_t hostAllocator, iree_hal_semaphore_t** out_semaphore);

bool isSemaphore(iree_hal_semaphore_t* semaphore);

} // namespace bessemer::hal::host
