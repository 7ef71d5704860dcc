// What one device can do with another's semaphores and buffers, and at what relative cost.

#include "iree/hal/topology.h"

#include <cstring>

#include "iree/hal/device.h"
#include "iree/hal/topology_builder.h"

namespace {

using Mode = iree_hal_topology_interop_mode_t;

constexpr Mode kNative = IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE;
constexpr Mode kImport = IREE_HAL_TOPOLOGY_INTEROP_MODE_IMPORT;
constexpr Mode kCopy = IREE_HAL_TOPOLOGY_INTEROP_MODE_COPY;

/// Everything an edge says about how the pair moves data; the words are packed from it.
struct EdgeModes {
  Mode wait, signal;
  Mode noncoherentAccess, coherentAccess;
};

struct EdgeCosts {
  uint8_t wait, signal, copy, latencyClass;
};

iree_hal_topology_edge_t pack(EdgeModes modes, EdgeCosts costs,
                              iree_hal_topology_link_class_t linkClass,
                              iree_hal_topology_capability_t capabilities) {
  iree_hal_topology_edge_t edge = iree_hal_topology_edge_empty();
  uint64_t lo = 0;
  lo = iree_hal_topology_edge_set_wait_mode(lo, modes.wait);
  lo = iree_hal_topology_edge_set_signal_mode(lo, modes.signal);
  lo = iree_hal_topology_edge_set_buffer_read_mode_noncoherent(lo, modes.noncoherentAccess);
  lo = iree_hal_topology_edge_set_buffer_write_mode_noncoherent(lo, modes.noncoherentAccess);
  lo = iree_hal_topology_edge_set_buffer_read_mode_coherent(lo, modes.coherentAccess);
  lo = iree_hal_topology_edge_set_buffer_write_mode_coherent(lo, modes.coherentAccess);
  lo = iree_hal_topology_edge_set_capability_flags(lo, capabilities);
  lo = iree_hal_topology_edge_set_wait_cost(lo, costs.wait);
  lo = iree_hal_topology_edge_set_signal_cost(lo, costs.signal);
  lo = iree_hal_topology_edge_set_copy_cost(lo, costs.copy);
  lo = iree_hal_topology_edge_set_latency_class(lo, costs.latencyClass);
  lo = iree_hal_topology_edge_set_link_class(lo, linkClass);
  edge.lo = lo;
  return edge;
}

void setHandleTypes(iree_hal_topology_edge_t* edge, uint32_t semaphoreImport,
                    uint32_t semaphoreExport, uint32_t bufferImport, uint32_t bufferExport) {
  uint64_t hi = edge->hi;
  hi = iree_hal_topology_edge_set_semaphore_import_types(hi, (uint8_t)semaphoreImport);
  hi = iree_hal_topology_edge_set_semaphore_export_types(hi, (uint8_t)semaphoreExport);
  hi = iree_hal_topology_edge_set_buffer_import_types(hi, (uint8_t)bufferImport);
  hi = iree_hal_topology_edge_set_buffer_export_types(hi, (uint8_t)bufferExport);
  edge->hi = hi;
}

// Device capabilities that both ends must have for the edge to have the corresponding one.
struct {
  iree_hal_device_capability_bits_t device;
  iree_hal_topology_capability_t edge;
  bool onlyWithinDriver;
} const kSharedCapabilities[] = {
    {IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY, IREE_HAL_TOPOLOGY_CAPABILITY_UNIFIED_MEMORY, false},
    {IREE_HAL_DEVICE_CAPABILITY_SHARED_VIRTUAL_ADDRESS,
     IREE_HAL_TOPOLOGY_CAPABILITY_SHARED_VIRTUAL_ADDRESS, false},
    {IREE_HAL_DEVICE_CAPABILITY_PEER_COHERENT, IREE_HAL_TOPOLOGY_CAPABILITY_PEER_COHERENT, true},
    {IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT, IREE_HAL_TOPOLOGY_CAPABILITY_HOST_COHERENT, false},
    {IREE_HAL_DEVICE_CAPABILITY_P2P_COPY, IREE_HAL_TOPOLOGY_CAPABILITY_P2P_COPY, false},
    {IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE, IREE_HAL_TOPOLOGY_CAPABILITY_CONCURRENT_SAFE,
     false},
    {IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE, IREE_HAL_TOPOLOGY_CAPABILITY_ATOMIC_DEVICE,
     false},
    {IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_SYSTEM, IREE_HAL_TOPOLOGY_CAPABILITY_ATOMIC_SYSTEM,
     false},
    {IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES,
     IREE_HAL_TOPOLOGY_CAPABILITY_TIMELINE_SEMAPHORE, false},
};

Mode modeFor(bool native, bool importable) {
  return native ? kNative : importable ? kImport : kCopy;
}

} // namespace

iree_hal_topology_edge_t iree_hal_topology_edge_make_self(void) {
  iree_hal_topology_capability_t capabilities = IREE_HAL_TOPOLOGY_CAPABILITY_SAME_RUNTIME_DOMAIN;
  for (const auto& shared : kSharedCapabilities)
    capabilities |= shared.edge;
  iree_hal_topology_edge_t edge = pack({kNative, kNative, kNative, kNative}, {0, 0, 0, 0},
                                       IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE, capabilities);
  constexpr uint32_t native = IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE;
  setHandleTypes(&edge, native, native, native, native);
  return edge;
}

iree_hal_topology_edge_t iree_hal_topology_edge_make_cross_driver(void) {
  return pack({kImport, kImport, kCopy, kCopy}, {5, 5, 10, 8},
              IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_SAME_ROOT, IREE_HAL_TOPOLOGY_CAPABILITY_NONE);
}

iree_hal_topology_edge_t iree_hal_topology_edge_from_capabilities(
    const iree_hal_device_capabilities_t* src_caps, const iree_hal_device_capabilities_t* dst_caps,
    iree_string_view_t src_driver_name, iree_string_view_t dst_driver_name) {
  const bool sameDriver = iree_string_view_equal(src_driver_name, dst_driver_name);
  if (sameDriver && src_caps->driver_device_handle &&
      src_caps->driver_device_handle == dst_caps->driver_device_handle) {
    // Two HAL devices over one device of the driver.
    return iree_hal_topology_edge_make_self();
  }
  const bool samePhysicalDevice =
      src_caps->has_physical_device_uuid && dst_caps->has_physical_device_uuid &&
      std::memcmp(src_caps->physical_device_uuid, dst_caps->physical_device_uuid,
                  sizeof(src_caps->physical_device_uuid)) == 0;

  const uint32_t semaphoreImport =
      src_caps->semaphore_export_types & dst_caps->semaphore_import_types;
  const uint32_t semaphoreExport =
      dst_caps->semaphore_export_types & src_caps->semaphore_import_types;
  const uint32_t bufferImport = src_caps->buffer_export_types & dst_caps->buffer_import_types;
  const uint32_t bufferExport = dst_caps->buffer_export_types & src_caps->buffer_import_types;

  auto bothHave = [&](iree_hal_device_capability_bits_t bits) {
    return iree_all_bits_set(src_caps->flags & dst_caps->flags, bits);
  };
  iree_hal_topology_capability_t capabilities = IREE_HAL_TOPOLOGY_CAPABILITY_NONE;
  if (sameDriver)
    capabilities |= IREE_HAL_TOPOLOGY_CAPABILITY_SAME_RUNTIME_DOMAIN;
  for (const auto& shared : kSharedCapabilities) {
    if (bothHave(shared.device) && (sameDriver || !shared.onlyWithinDriver)) {
      capabilities |= shared.edge;
    }
  }

  const bool addressable = sameDriver && bothHave(IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE);
  const bool unified = bothHave(IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY);
  const EdgeModes modes = {
      .wait = modeFor(sameDriver && (semaphoreImport & IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE),
                      semaphoreImport != 0),
      .signal = modeFor(sameDriver && (semaphoreExport & IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE),
                        semaphoreExport != 0),
      .noncoherentAccess = modeFor(addressable, bufferImport != 0),
      .coherentAccess = modeFor(addressable || unified, bufferImport != 0),
  };

  auto costOf = [](Mode mode, uint8_t native) {
    return mode == kNative ? native : static_cast<uint8_t>(mode == kImport ? 3 : 10);
  };
  EdgeCosts costs = {costOf(modes.wait, 0), costOf(modes.signal, 1), 13, 11};
  iree_hal_topology_link_class_t linkClass = IREE_HAL_TOPOLOGY_LINK_CLASS_HOST_STAGED;
  if (samePhysicalDevice) {
    linkClass = IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE;
    costs.copy = 0;
    costs.latencyClass = 0;
  } else if (sameDriver) {
    const bool peerCopies = bothHave(IREE_HAL_DEVICE_CAPABILITY_P2P_COPY);
    linkClass = IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_SAME_ROOT;
    costs.copy = peerCopies ? 5 : 9;
    costs.latencyClass = peerCopies ? 5 : 8;
  }

  iree_hal_topology_edge_t edge = pack(modes, costs, linkClass, capabilities);
  if (src_caps->numa_node != dst_caps->numa_node) {
    // Distances between nodes are not asked of the system: one step apart.
    edge.lo = iree_hal_topology_edge_set_numa_distance(edge.lo, 3);
  }
  setHandleTypes(&edge, semaphoreImport, semaphoreExport, bufferImport, bufferExport);
  return edge;
}

//===--- text ---------------------------------------------------------------------------------===//

namespace {

const char* modeName(Mode mode) {
  static constexpr const char* kNames[] = {"native", "import", "copy", "none"};
  return kNames[mode & 3];
}

const char* linkName(iree_hal_topology_link_class_t linkClass) {
  static constexpr const char* kNames[] = {"same-die",        "nvlink-if",   "pcie-same-root",
                                           "pcie-cross-root", "host-staged", "fabric",
                                           "other",           "isolated"};
  return kNames[linkClass & 7];
}

} // namespace

iree_status_t iree_hal_topology_edge_format(iree_hal_topology_edge_t edge,
                                            iree_string_builder_t* builder) {
  return iree_string_builder_append_format(
      builder,
      "link=%s wait=%s/%u signal=%s/%u read=%s|%s write=%s|%s copy=%u latency=%u numa=%u "
      "capabilities=0x%x",
      linkName(iree_hal_topology_edge_link_class(edge.lo)),
      modeName(iree_hal_topology_edge_wait_mode(edge.lo)),
      (unsigned)iree_hal_topology_edge_wait_cost(edge.lo),
      modeName(iree_hal_topology_edge_signal_mode(edge.lo)),
      (unsigned)iree_hal_topology_edge_signal_cost(edge.lo),
      modeName(iree_hal_topology_edge_buffer_read_mode_noncoherent(edge.lo)),
      modeName(iree_hal_topology_edge_buffer_read_mode_coherent(edge.lo)),
      modeName(iree_hal_topology_edge_buffer_write_mode_noncoherent(edge.lo)),
      modeName(iree_hal_topology_edge_buffer_write_mode_coherent(edge.lo)),
      (unsigned)iree_hal_topology_edge_copy_cost(edge.lo),
      (unsigned)iree_hal_topology_edge_latency_class(edge.lo),
      (unsigned)iree_hal_topology_edge_numa_distance(edge.lo),
      (unsigned)iree_hal_topology_edge_capability_flags(edge.lo));
}

iree_status_t iree_hal_topology_dump_matrix(const iree_hal_topology_t* topology,
                                            iree_string_builder_t* builder) {
  for (uint32_t src = 0; src < topology->device_count; ++src) {
    for (uint32_t dst = 0; dst < topology->device_count; ++dst) {
      IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "%u -> %u: ", src, dst));
      IREE_RETURN_IF_ERROR(
          iree_hal_topology_edge_format(iree_hal_topology_query_edge(topology, src, dst), builder));
      IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "\n"));
    }
  }
  return iree_ok_status();
}
