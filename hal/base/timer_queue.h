// Callbacks at points in time, on one thread that starts with the first.

#ifndef BESSEMER_HAL_BASE_TIMER_QUEUE_H_
#define BESSEMER_HAL_BASE_TIMER_QUEUE_H_

#include <cstdint>

#include "iree/base/time.h"

namespace bessemer::hal {

using TimerId = uint64_t;

// Calls `fn` once, at or after the deadline. Not called for an infinite one.
TimerId ScheduleTimer(iree_time_t deadline_ns, void (*fn)(void*), void* user_data);

// True when the callback will not run; false when it has or is about to.
bool CancelTimer(TimerId id);

} // namespace bessemer::hal

#endif // BESSEMER_HAL_BASE_TIMER_QUEUE_H_
