// iree_hal_event_t: set and waited for within the work of a device.
#pragma once

#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

iree_status_t CreateEvent(MTL::Device* device, iree_allocator_t host_allocator,
                          iree_hal_event_t** out_event);

/// Encoded between encoders. A wait is for the newest signal encoded before it or, when the event
/// is reset or was never signaled, for the next.
void EncodeEventSignal(iree_hal_event_t* event, MTL::CommandBuffer* command_buffer);
void EncodeEventReset(iree_hal_event_t* event);
void EncodeEventWait(const iree_hal_event_t* event, MTL::CommandBuffer* command_buffer);

} // namespace bessemer::metal_driver
