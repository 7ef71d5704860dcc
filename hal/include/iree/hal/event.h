#ifndef IREE_HAL_EVENT_H_
#define IREE_HAL_EVENT_H_

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

enum iree_hal_event_flag_bits_t {
  IREE_HAL_EVENT_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_event_flags_t;

typedef struct iree_hal_event_t iree_hal_event_t;

/// Makes an event, not set, for use between commands of a queue.
IREE_API_EXPORT iree_status_t iree_hal_event_create(iree_hal_device_t* device,
                                                    iree_hal_queue_affinity_t queue_affinity,
                                                    iree_hal_event_flags_t flags,
                                                    iree_hal_event_t** out_event);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_event_retain(iree_hal_event_t* event);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_event_release(iree_hal_event_t* event);

typedef struct iree_hal_event_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_event_t* event);
} iree_hal_event_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_event_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_event_destroy(iree_hal_event_t* event);

#ifdef __cplusplus
}
#endif
#endif
