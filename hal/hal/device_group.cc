#include "iree/hal/device_group.h"

#include <cstring>
#include <new>

#include "hal/hal/object.h"
#include "iree/async/frontier_tracker.h"
#include "iree/hal/topology_builder.h"

struct iree_hal_device_group_t {
  iree_atomic_ref_count_t refCount;
  iree_allocator_t hostAllocator;
  iree_async_frontier_tracker_t* frontierTracker;
  iree_hal_topology_t topology;
  iree_host_size_t deviceCount;
  /// Retained.
  iree_hal_device_t* devices[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
};

namespace {

bool isSameDriver(iree_hal_device_t* a, iree_hal_device_t* b) {
  return reinterpret_cast<iree_hal_resource_t*>(a)->vtable ==
         reinterpret_cast<iree_hal_resource_t*>(b)->vtable;
}

/// Fills the edges between all of `group`'s devices from what they say of themselves.
iree_status_t buildTopology(iree_hal_device_group_t* group) {
  const auto count = static_cast<uint32_t>(group->deviceCount);
  iree_hal_device_capabilities_t capabilities[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
  iree_hal_topology_builder_t builder;
  iree_hal_topology_builder_initialize(&builder, count);
  for (uint32_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_device_query_capabilities(group->devices[i], &capabilities[i]));
    IREE_RETURN_IF_ERROR(
        iree_hal_topology_builder_set_numa_node(&builder, i, capabilities[i].numa_node));
  }
  for (uint32_t src = 0; src < count; ++src) {
    for (uint32_t dst = 0; dst < count; ++dst) {
      if (src == dst)
        continue;
      const bool sameDriver = isSameDriver(group->devices[src], group->devices[dst]);
      iree_hal_topology_edge_t edge = iree_hal_topology_edge_from_capabilities(
          &capabilities[src], &capabilities[dst], IREE_SV("source"),
          sameDriver ? IREE_SV("source") : IREE_SV("target"));
      if (sameDriver) {
        IREE_RETURN_IF_ERROR(
            iree_hal_device_refine_topology_edge(group->devices[src], group->devices[dst], &edge));
      }
      IREE_RETURN_IF_ERROR(iree_hal_topology_builder_set_edge(&builder, src, dst, edge));
    }
  }
  return iree_hal_topology_builder_finalize(&builder, &group->topology);
}

bool isDirect(iree_hal_topology_interop_mode_t mode) {
  return mode == IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE ||
         mode == IREE_HAL_TOPOLOGY_INTEROP_MODE_IMPORT;
}

iree_hal_device_topology_info_t infoFor(const iree_hal_device_group_t* group, uint32_t self) {
  iree_hal_device_topology_info_t info;
  std::memset(&info, 0, sizeof(info));
  const iree_hal_topology_t& topology = group->topology;
  info.self_edge = iree_hal_topology_query_edge(&topology, self, self).lo;
  info.topology_index = self;
  info.topology = &topology;
  for (uint32_t other = 0; other < topology.device_count; ++other) {
    if (other == self)
      continue;
    const iree_hal_topology_device_bitmap_t bit = iree_hal_topology_device_bitmap_t{1} << other;
    const uint64_t from = iree_hal_topology_query_edge(&topology, other, self).lo;
    const uint64_t to = iree_hal_topology_query_edge(&topology, self, other).lo;
    const auto read = iree_hal_topology_edge_buffer_read_mode_noncoherent(from);
    const auto coherentRead = iree_hal_topology_edge_buffer_read_mode_coherent(from);
    if (iree_hal_topology_edge_wait_mode(from) != IREE_HAL_TOPOLOGY_INTEROP_MODE_NONE) {
      info.can_wait_from |= bit;
    }
    if (iree_hal_topology_edge_signal_mode(to) != IREE_HAL_TOPOLOGY_INTEROP_MODE_NONE) {
      info.can_signal_to |= bit;
    }
    if (isDirect(read) || isDirect(coherentRead))
      info.can_import_from |= bit;
    if (read == IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE ||
        coherentRead == IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE ||
        iree_any_bit_set(iree_hal_topology_edge_capability_flags(from),
                         IREE_HAL_TOPOLOGY_CAPABILITY_P2P_COPY)) {
      info.can_p2p_with |= bit;
    }
  }
  info.frontier.tracker = group->frontierTracker;
  info.frontier.base_axis =
      iree_async_axis_make_queue(iree_async_frontier_tracker_session_epoch(group->frontierTracker),
                                 iree_async_frontier_tracker_machine_index(group->frontierTracker),
                                 static_cast<uint8_t>(self), 0);
  return info;
}

/// Tells every device its place; on failure those already told are untold, newest first.
iree_status_t assignTopology(iree_hal_device_group_t* group) {
  for (iree_host_size_t i = 0; i < group->deviceCount; ++i) {
    const iree_hal_device_topology_info_t info = infoFor(group, static_cast<uint32_t>(i));
    iree_status_t status = iree_hal_device_assign_topology_info(group->devices[i], &info);
    if (iree_status_is_ok(status))
      continue;
    while (i-- > 0) {
      iree_status_ignore(iree_hal_device_assign_topology_info(group->devices[i], nullptr));
    }
    return status;
  }
  return iree_ok_status();
}

iree_status_t allocateGroup(iree_async_frontier_tracker_t* tracker, iree_allocator_t hostAllocator,
                            iree_hal_device_group_t** out_group) {
  IREE_RETURN_IF_ERROR(bessemer::hal::allocateObject(hostAllocator, 0, out_group));
  iree_hal_device_group_t* group = *out_group;
  iree_atomic_ref_count_init(&group->refCount);
  group->hostAllocator = hostAllocator;
  group->frontierTracker = tracker;
  iree_async_frontier_tracker_retain(tracker);
  return iree_ok_status();
}

iree_status_t publishOrRelease(iree_status_t status, iree_hal_device_group_t* group,
                               iree_hal_device_group_t** out_group) {
  if (iree_status_is_ok(status)) {
    *out_group = group;
  } else {
    iree_hal_device_group_release(group);
  }
  return status;
}

} // namespace

iree_status_t iree_hal_device_group_create_from_device(
    iree_hal_device_t* device, iree_async_frontier_tracker_t* frontier_tracker,
    iree_allocator_t host_allocator, iree_hal_device_group_t** out_group) {
  *out_group = nullptr;
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, frontier_tracker);
  iree_status_t status = iree_hal_device_group_builder_add_device(&builder, device);
  if (!iree_status_is_ok(status)) {
    iree_hal_device_group_builder_deinitialize(&builder);
    return status;
  }
  return iree_hal_device_group_builder_finalize(&builder, host_allocator, out_group);
}

iree_status_t iree_hal_device_group_create_with_replacements(
    iree_hal_device_group_t* source_group,
    iree_hal_device_group_replacement_callback_t replacement_callback,
    iree_allocator_t host_allocator, iree_hal_device_group_t** out_group) {
  *out_group = nullptr;
  if (!replacement_callback.fn) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "device replacement needs a callback");
  }
  iree_hal_device_group_t* group = nullptr;
  IREE_RETURN_IF_ERROR(allocateGroup(source_group->frontierTracker, host_allocator, &group));
  group->topology = source_group->topology;
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < source_group->deviceCount && iree_status_is_ok(status); ++i) {
    iree_hal_device_t* replacement = nullptr;
    status = replacement_callback.fn(source_group, i, source_group->devices[i],
                                     replacement_callback.user_data, &replacement);
    if (iree_status_is_ok(status) && !replacement) {
      status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                "no replacement was given for device %" PRIhsz, i);
    }
    // The callback's reference becomes the group's.
    if (replacement)
      group->devices[group->deviceCount++] = replacement;
  }
  if (iree_status_is_ok(status))
    status = assignTopology(group);
  return publishOrRelease(status, group, out_group);
}

void iree_hal_device_group_retain(iree_hal_device_group_t* group) {
  if (group)
    iree_atomic_ref_count_inc(&group->refCount);
}

void iree_hal_device_group_release(iree_hal_device_group_t* group) {
  if (!group || iree_atomic_ref_count_dec(&group->refCount) != 1)
    return;
  for (iree_host_size_t i = 0; i < group->deviceCount; ++i) {
    iree_hal_device_release(group->devices[i]);
  }
  iree_async_frontier_tracker_release(group->frontierTracker);
  iree_allocator_free(group->hostAllocator, group);
}

iree_host_size_t iree_hal_device_group_device_count(const iree_hal_device_group_t* group) {
  return group->deviceCount;
}

iree_hal_device_t* iree_hal_device_group_device_at(const iree_hal_device_group_t* group,
                                                   iree_host_size_t index) {
  return index < group->deviceCount ? group->devices[index] : nullptr;
}

const iree_hal_topology_t* iree_hal_device_group_topology(const iree_hal_device_group_t* group) {
  return &group->topology;
}

//===--- builder ------------------------------------------------------------------------------===//

void iree_hal_device_group_builder_initialize(iree_hal_device_group_builder_t* builder,
                                              iree_async_frontier_tracker_t* frontier_tracker) {
  std::memset(builder, 0, sizeof(*builder));
  builder->frontier_tracker = frontier_tracker;
  iree_async_frontier_tracker_retain(frontier_tracker);
}

void iree_hal_device_group_builder_deinitialize(iree_hal_device_group_builder_t* builder) {
  iree_async_frontier_tracker_release(builder->frontier_tracker);
  std::memset(builder, 0, sizeof(*builder));
}

iree_status_t iree_hal_device_group_builder_add_device(iree_hal_device_group_builder_t* builder,
                                                       iree_hal_device_t* device) {
  if (builder->count == IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "a device group holds at most %d devices",
                            IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT);
  }
  builder->devices[builder->count++] = device;
  return iree_ok_status();
}

iree_status_t iree_hal_device_group_builder_finalize(iree_hal_device_group_builder_t* builder,
                                                     iree_allocator_t host_allocator,
                                                     iree_hal_device_group_t** out_group) {
  *out_group = nullptr;
  iree_hal_device_group_t* group = nullptr;
  iree_status_t status = builder->count > 0
                             ? allocateGroup(builder->frontier_tracker, host_allocator, &group)
                             : iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                                "a device group needs at least one device");
  if (iree_status_is_ok(status)) {
    for (iree_host_size_t i = 0; i < builder->count; ++i) {
      iree_hal_device_retain(builder->devices[i]);
      group->devices[group->deviceCount++] = builder->devices[i];
    }
    status = buildTopology(group);
    if (iree_status_is_ok(status))
      status = assignTopology(group);
    status = publishOrRelease(status, group, out_group);
  }
  iree_hal_device_group_builder_deinitialize(builder);
  return status;
}
