#pragma once

#include <functional>

#include "iree/hal/semaphore.h"

namespace bessemer::hal {

/// Calls `then` once when all timepoints of `list` are reached, with OK, or when one of them fails,
/// with that failure (the callee takes the status). No thread waits meanwhile: `then` runs on the
/// thread that signals last, or within this call when nothing is left to wait for. The semaphores
/// are retained until then. On an error return `then` is not called.
iree_status_t whenReached(iree_hal_semaphore_list_t list, iree_allocator_t hostAllocator,
                          std::function<void(iree_status_t)> then);

} // namespace bessemer::hal
