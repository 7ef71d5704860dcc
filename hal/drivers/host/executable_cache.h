#pragma once

#include "iree/hal/executable_cache.h"

namespace bessemer::hal::host {

/// A cache that knows no format: the host device runs no executables.
iree_status_t createExecutableCache(iree_allocator_t hostAllocator,
                                    iree_hal_executable_cache_t** out_cache);

} // namespace bessemer::hal::host
