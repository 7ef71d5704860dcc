#ifndef IREE_HAL_DEVICE_GROUP_H_
#define IREE_HAL_DEVICE_GROUP_H_

#include "iree/base/api.h"
#include "iree/hal/device.h"
#include "iree/hal/topology.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Devices that know their place among each other. It must outlive their use of the topology.
typedef struct iree_hal_device_group_t iree_hal_device_group_t;

/// Gives a device, as a reference of the caller's, in the place of `source_device`.
typedef iree_status_t(IREE_API_PTR* iree_hal_device_group_replacement_fn_t)(
    iree_hal_device_group_t* source_group, iree_host_size_t device_index,
    iree_hal_device_t* source_device, void* user_data, iree_hal_device_t** out_replacement_device);

typedef struct iree_hal_device_group_replacement_callback_t {
  iree_hal_device_group_replacement_fn_t fn;
  void* user_data;
} iree_hal_device_group_replacement_callback_t;

/// A group of one.
IREE_API_EXPORT iree_status_t iree_hal_device_group_create_from_device(
    iree_hal_device_t* device, iree_async_frontier_tracker_t* frontier_tracker,
    iree_allocator_t host_allocator, iree_hal_device_group_t** out_group);

/// A group with the topology of another and other devices.
IREE_API_EXPORT iree_status_t iree_hal_device_group_create_with_replacements(
    iree_hal_device_group_t* source_group,
    iree_hal_device_group_replacement_callback_t replacement_callback,
    iree_allocator_t host_allocator, iree_hal_device_group_t** out_group);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_device_group_retain(iree_hal_device_group_t* group);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_device_group_release(iree_hal_device_group_t* group);

/// Number of devices.
IREE_API_EXPORT iree_host_size_t
iree_hal_device_group_device_count(const iree_hal_device_group_t* group);

/// A device, not retained; null beyond the last.
IREE_API_EXPORT iree_hal_device_t*
iree_hal_device_group_device_at(const iree_hal_device_group_t* group, iree_host_size_t index);

/// How the devices stand to each other.
IREE_API_EXPORT const iree_hal_topology_t*
iree_hal_device_group_topology(const iree_hal_device_group_t* group);

/// A group in the making. Devices are borrowed.
typedef struct iree_hal_device_group_builder_t {
  iree_async_frontier_tracker_t* frontier_tracker;
  iree_host_size_t count;
  iree_hal_device_t* devices[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
} iree_hal_device_group_builder_t;

/// Starts a group whose devices record progress in `frontier_tracker`.
IREE_API_EXPORT void
iree_hal_device_group_builder_initialize(iree_hal_device_group_builder_t* builder,
                                         iree_async_frontier_tracker_t* frontier_tracker);

/// Gives up on a group.
IREE_API_EXPORT void
iree_hal_device_group_builder_deinitialize(iree_hal_device_group_builder_t* builder);

/// Adds a device; RESOURCE_EXHAUSTED beyond 32.
IREE_API_EXPORT iree_status_t iree_hal_device_group_builder_add_device(
    iree_hal_device_group_builder_t* builder, iree_hal_device_t* device);

/// Works out the topology, tells it to the devices and makes the group. The builder is done,
/// whatever is returned; after an error no device has a place.
IREE_API_EXPORT iree_status_t iree_hal_device_group_builder_finalize(
    iree_hal_device_group_builder_t* builder, iree_allocator_t host_allocator,
    iree_hal_device_group_t** out_group);

#ifdef __cplusplus
}
#endif
#endif
