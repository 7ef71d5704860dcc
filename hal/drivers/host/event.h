#pragma once

#include "iree/hal/event.h"

namespace bessemer::hal::host {

iree_status_t createEvent(iree_allocator_t hostAllocator, iree_hal_event_t** out_event);

void setEvent(iree_hal_event_t* event, bool signaled);
bool isEventSet(const iree_hal_event_t* event);

} // namespace bessemer::hal::host
