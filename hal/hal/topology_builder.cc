#include "iree/hal/topology_builder.h"

#include <cstring>

void iree_hal_topology_builder_initialize(iree_hal_topology_builder_t* builder,
                                          uint32_t device_count) {
  std::memset(builder, 0, sizeof(*builder));
  builder->topology.device_count = device_count < IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT
                                       ? device_count
                                       : IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT;
  for (uint32_t i = 0; i < builder->topology.device_count; ++i) {
    const uint32_t self = i * builder->topology.device_count + i;
    builder->topology.edges[self] = iree_hal_topology_edge_make_self();
    builder->edges_set[self] = true;
  }
}

iree_status_t iree_hal_topology_builder_set_edge(iree_hal_topology_builder_t* builder,
                                                 uint32_t src_ordinal, uint32_t dst_ordinal,
                                                 iree_hal_topology_edge_t edge) {
  const uint32_t count = builder->topology.device_count;
  if (src_ordinal >= count || dst_ordinal >= count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "edge %u -> %u names a device beyond the %u of the topology",
                            src_ordinal, dst_ordinal, count);
  }
  if (src_ordinal == dst_ordinal &&
      (iree_hal_topology_edge_wait_mode(edge.lo) != IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE ||
       iree_hal_topology_edge_signal_mode(edge.lo) != IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "device %u must reach its own semaphores natively", src_ordinal);
  }
  builder->topology.edges[src_ordinal * count + dst_ordinal] = edge;
  builder->edges_set[src_ordinal * count + dst_ordinal] = true;
  return iree_ok_status();
}

iree_status_t iree_hal_topology_builder_set_numa_node(iree_hal_topology_builder_t* builder,
                                                      uint32_t device_ordinal, uint8_t numa_node) {
  if (device_ordinal >= builder->topology.device_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "device %u is beyond the %u of the topology", device_ordinal,
                            builder->topology.device_count);
  }
  builder->topology.numa_nodes[device_ordinal] = numa_node;
  return iree_ok_status();
}

iree_status_t iree_hal_topology_builder_finalize(iree_hal_topology_builder_t* builder,
                                                 iree_hal_topology_t* out_topology) {
  const uint32_t count = builder->topology.device_count;
  for (uint32_t src = 0; src < count; ++src) {
    for (uint32_t dst = 0; dst < count; ++dst) {
      if (!builder->edges_set[src * count + dst] || !builder->edges_set[dst * count + src]) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "edge %u -> %u was never set", src,
                                dst);
      }
      // A link is one piece of hardware, whichever way data goes over it.
      if (iree_hal_topology_edge_link_class(builder->topology.edges[src * count + dst].lo) !=
          iree_hal_topology_edge_link_class(builder->topology.edges[dst * count + src].lo)) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                "edges %u -> %u and back differ in their link class", src, dst);
      }
    }
  }
  *out_topology = builder->topology;
  return iree_ok_status();
}
