#pragma once

#include "iree/hal/profile_options.h"

namespace bessemer::hal {

/// INVALID_ARGUMENT when `options` sets bits that mean nothing, a filter without its value, or
/// counters without their data family.
iree_status_t checkProfilingRequest(const iree_hal_device_profiling_options_t& options);

/// Whether a profiling session with `options` would produce anything.
bool requestsAnything(const iree_hal_device_profiling_options_t& options);

} // namespace bessemer::hal
