#include "iree/hal/event.h"

#include "hal/hal/object.h"
#include "iree/hal/device.h"

using bessemer::hal::vtableOf;

iree_status_t iree_hal_event_create(iree_hal_device_t* device,
                                    iree_hal_queue_affinity_t queue_affinity,
                                    iree_hal_event_flags_t flags, iree_hal_event_t** out_event) {
  *out_event = nullptr;
  return vtableOf<iree_hal_device_vtable_t>(device).create_event(device, queue_affinity, flags,
                                                                 out_event);
}

void iree_hal_event_retain(iree_hal_event_t* event) { iree_hal_resource_retain(event); }

void iree_hal_event_release(iree_hal_event_t* event) { iree_hal_resource_release(event); }

void iree_hal_event_destroy(iree_hal_event_t* event) {
  if (event)
    vtableOf<iree_hal_event_vtable_t>(event).destroy(event);
}
