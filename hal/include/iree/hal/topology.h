#ifndef IREE_HAL_TOPOLOGY_H_
#define IREE_HAL_TOPOLOGY_H_

#include "iree/base/api.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

/// What a device says of itself when its place among others is worked out.
typedef struct iree_hal_device_capabilities_t iree_hal_device_capabilities_t;

/// Devices that a group can have.
#define IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT 32
#define IREE_HAL_TOPOLOGY_DEVICE_ORDINAL_INVALID UINT32_MAX

#if IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT <= 32
typedef uint32_t iree_hal_topology_device_bitmap_t;
#else
typedef uint64_t iree_hal_topology_device_bitmap_t;
#endif

typedef uint64_t iree_hal_topology_edge_scheduling_word_t;

#define IREE_HAL_TOPOLOGY_EDGE_WAIT_MODE_SHIFT 0
#define IREE_HAL_TOPOLOGY_EDGE_WAIT_MODE_MASK 0x3ull
#define IREE_HAL_TOPOLOGY_EDGE_SIGNAL_MODE_SHIFT 2
#define IREE_HAL_TOPOLOGY_EDGE_SIGNAL_MODE_MASK 0x3ull
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_NONCOHERENT_SHIFT 4
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_NONCOHERENT_MASK 0x3ull
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_NONCOHERENT_SHIFT 6
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_NONCOHERENT_MASK 0x3ull
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_COHERENT_SHIFT 8
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_COHERENT_MASK 0x3ull
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_COHERENT_SHIFT 10
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_COHERENT_MASK 0x3ull
#define IREE_HAL_TOPOLOGY_EDGE_CAPABILITY_FLAGS_SHIFT 12
#define IREE_HAL_TOPOLOGY_EDGE_CAPABILITY_FLAGS_MASK 0xFFFFull
#define IREE_HAL_TOPOLOGY_EDGE_WAIT_COST_SHIFT 28
#define IREE_HAL_TOPOLOGY_EDGE_WAIT_COST_MASK 0xFull
#define IREE_HAL_TOPOLOGY_EDGE_SIGNAL_COST_SHIFT 32
#define IREE_HAL_TOPOLOGY_EDGE_SIGNAL_COST_MASK 0xFull
#define IREE_HAL_TOPOLOGY_EDGE_COPY_COST_SHIFT 36
#define IREE_HAL_TOPOLOGY_EDGE_COPY_COST_MASK 0xFull
#define IREE_HAL_TOPOLOGY_EDGE_LATENCY_CLASS_SHIFT 40
#define IREE_HAL_TOPOLOGY_EDGE_LATENCY_CLASS_MASK 0xFull
#define IREE_HAL_TOPOLOGY_EDGE_NUMA_DISTANCE_SHIFT 44
#define IREE_HAL_TOPOLOGY_EDGE_NUMA_DISTANCE_MASK 0xFull
#define IREE_HAL_TOPOLOGY_EDGE_LINK_CLASS_SHIFT 48
#define IREE_HAL_TOPOLOGY_EDGE_LINK_CLASS_MASK 0x7ull
#define IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_IMPORT_TYPES_SHIFT 0
#define IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_IMPORT_TYPES_MASK 0xFFull
#define IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_EXPORT_TYPES_SHIFT 8
#define IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_EXPORT_TYPES_MASK 0xFFull
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_IMPORT_TYPES_SHIFT 16
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_IMPORT_TYPES_MASK 0xFFull
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_EXPORT_TYPES_SHIFT 24
#define IREE_HAL_TOPOLOGY_EDGE_BUFFER_EXPORT_TYPES_MASK 0xFFull

typedef uint64_t iree_hal_topology_edge_interop_word_t;

/// What one device can do with another's semaphores and memory, packed into two words.
typedef struct iree_hal_topology_edge_t {
  iree_hal_topology_edge_scheduling_word_t lo;
  iree_hal_topology_edge_interop_word_t hi;
} iree_hal_topology_edge_t;

static inline iree_hal_topology_edge_t iree_hal_topology_edge_empty(void) {
  iree_hal_topology_edge_t edge;
  edge.lo = 0;
  edge.hi = 0;
  return edge;
}

static inline bool iree_hal_topology_edge_is_empty(iree_hal_topology_edge_t edge) {
  return (edge.lo | edge.hi) == 0;
}

/// How one device uses what is another's: as its own, imported, through copies, or not at all.
enum iree_hal_topology_interop_mode_bits_t {
  IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE = 0,
  IREE_HAL_TOPOLOGY_INTEROP_MODE_IMPORT = 1,
  IREE_HAL_TOPOLOGY_INTEROP_MODE_COPY = 2,
  IREE_HAL_TOPOLOGY_INTEROP_MODE_NONE = 3,
};
typedef uint8_t iree_hal_topology_interop_mode_t;

/// What lies between two devices.
enum iree_hal_topology_link_class_bits_t {
  IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE = 0,
  IREE_HAL_TOPOLOGY_LINK_CLASS_NVLINK_IF = 1,
  IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_SAME_ROOT = 2,
  IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_CROSS_ROOT = 3,
  IREE_HAL_TOPOLOGY_LINK_CLASS_HOST_STAGED = 4,
  IREE_HAL_TOPOLOGY_LINK_CLASS_FABRIC = 5,
  IREE_HAL_TOPOLOGY_LINK_CLASS_OTHER = 6,
  IREE_HAL_TOPOLOGY_LINK_CLASS_ISOLATED = 7,
};
typedef uint8_t iree_hal_topology_link_class_t;

/// Kinds of handles that things can be passed by.
enum iree_hal_topology_handle_type_bits_t {
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_NONE = 0,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE = 1u << 0,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD = 1u << 1,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_WIN32 = 1u << 2,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF = 1u << 3,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_RDMA_MR = 1u << 4,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_SHM = 1u << 5,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_METAL_IOSURFACE = 1u << 6,
  IREE_HAL_TOPOLOGY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER = 1u << 7,
};
typedef uint8_t iree_hal_topology_handle_type_t;

/// What two devices can do together.
enum iree_hal_topology_capability_bits_t {
  IREE_HAL_TOPOLOGY_CAPABILITY_NONE = 0,
  IREE_HAL_TOPOLOGY_CAPABILITY_SAME_RUNTIME_DOMAIN = 1u << 0,
  IREE_HAL_TOPOLOGY_CAPABILITY_UNIFIED_MEMORY = 1u << 1,
  IREE_HAL_TOPOLOGY_CAPABILITY_PEER_COHERENT = 1u << 2,
  IREE_HAL_TOPOLOGY_CAPABILITY_HOST_COHERENT = 1u << 3,
  IREE_HAL_TOPOLOGY_CAPABILITY_P2P_COPY = 1u << 4,
  IREE_HAL_TOPOLOGY_CAPABILITY_CONCURRENT_SAFE = 1u << 5,
  IREE_HAL_TOPOLOGY_CAPABILITY_ATOMIC_DEVICE = 1u << 6,
  IREE_HAL_TOPOLOGY_CAPABILITY_ATOMIC_SYSTEM = 1u << 7,
  IREE_HAL_TOPOLOGY_CAPABILITY_TIMELINE_SEMAPHORE = 1u << 8,
  IREE_HAL_TOPOLOGY_CAPABILITY_BINARY_SEMAPHORE_ONLY = 1u << 9,
  IREE_HAL_TOPOLOGY_CAPABILITY_REMOTE_DMA = 1u << 10,
  IREE_HAL_TOPOLOGY_CAPABILITY_SHARED_VIRTUAL_ADDRESS = 1u << 11,
  IREE_HAL_TOPOLOGY_CAPABILITY_PEER_ACCESS_REQUIRES_GRANT = 1u << 12,
};
typedef uint16_t iree_hal_topology_capability_t;

typedef struct iree_hal_resource_origin_t {
  iree_hal_topology_edge_scheduling_word_t self_edge;
  uint32_t topology_index;
} iree_hal_resource_origin_t;

static inline iree_hal_resource_origin_t iree_hal_resource_origin_undefined(void) {
  iree_hal_resource_origin_t origin;
  origin.self_edge = 0;
  origin.topology_index = IREE_HAL_TOPOLOGY_DEVICE_ORDINAL_INVALID;
  return origin;
}

/// The edges of a group, by source and target.
typedef struct iree_hal_topology_t {
  uint32_t device_count;
  iree_hal_topology_edge_t
      edges[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT * IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
  uint8_t numa_nodes[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
} iree_hal_topology_t;

static inline iree_hal_topology_t iree_hal_topology_empty(void) {
  iree_hal_topology_t topology;
  memset(&topology, 0, sizeof(topology));
  return topology;
}

static inline bool iree_hal_topology_is_empty(const iree_hal_topology_t* topology) {
  return topology->device_count == 0;
}

static inline uint32_t iree_hal_topology_device_count(const iree_hal_topology_t* topology) {
  return topology->device_count;
}

/// An edge; empty beyond the devices.
static inline iree_hal_topology_edge_t
iree_hal_topology_query_edge(const iree_hal_topology_t* topology, uint32_t src_ordinal,
                             uint32_t dst_ordinal) {
  const uint32_t count = topology->device_count;
  return src_ordinal < count && dst_ordinal < count
             ? topology->edges[src_ordinal * count + dst_ordinal]
             : iree_hal_topology_edge_empty();
}

static inline iree_hal_topology_interop_mode_t
iree_hal_topology_edge_wait_mode(iree_hal_topology_edge_scheduling_word_t word) {
  return (iree_hal_topology_interop_mode_t)((word >> IREE_HAL_TOPOLOGY_EDGE_WAIT_MODE_SHIFT) &
                                            IREE_HAL_TOPOLOGY_EDGE_WAIT_MODE_MASK);
}

static inline iree_hal_topology_interop_mode_t
iree_hal_topology_edge_signal_mode(iree_hal_topology_edge_scheduling_word_t word) {
  return (iree_hal_topology_interop_mode_t)((word >> IREE_HAL_TOPOLOGY_EDGE_SIGNAL_MODE_SHIFT) &
                                            IREE_HAL_TOPOLOGY_EDGE_SIGNAL_MODE_MASK);
}

static inline iree_hal_topology_interop_mode_t
iree_hal_topology_edge_buffer_read_mode_noncoherent(iree_hal_topology_edge_scheduling_word_t word) {
  return (
      iree_hal_topology_interop_mode_t)((word >>
                                         IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_NONCOHERENT_SHIFT) &
                                        IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_NONCOHERENT_MASK);
}

static inline iree_hal_topology_interop_mode_t iree_hal_topology_edge_buffer_write_mode_noncoherent(
    iree_hal_topology_edge_scheduling_word_t word) {
  return (
      iree_hal_topology_interop_mode_t)((word >>
                                         IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_NONCOHERENT_SHIFT) &
                                        IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_NONCOHERENT_MASK);
}

static inline iree_hal_topology_interop_mode_t
iree_hal_topology_edge_buffer_read_mode_coherent(iree_hal_topology_edge_scheduling_word_t word) {
  return (
      iree_hal_topology_interop_mode_t)((word >>
                                         IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_COHERENT_SHIFT) &
                                        IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_COHERENT_MASK);
}

static inline iree_hal_topology_interop_mode_t
iree_hal_topology_edge_buffer_write_mode_coherent(iree_hal_topology_edge_scheduling_word_t word) {
  return (
      iree_hal_topology_interop_mode_t)((word >>
                                         IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_COHERENT_SHIFT) &
                                        IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_COHERENT_MASK);
}

static inline iree_hal_topology_capability_t
iree_hal_topology_edge_capability_flags(iree_hal_topology_edge_scheduling_word_t word) {
  return (iree_hal_topology_capability_t)((word >> IREE_HAL_TOPOLOGY_EDGE_CAPABILITY_FLAGS_SHIFT) &
                                          IREE_HAL_TOPOLOGY_EDGE_CAPABILITY_FLAGS_MASK);
}

static inline uint8_t
iree_hal_topology_edge_wait_cost(iree_hal_topology_edge_scheduling_word_t word) {
  return (uint8_t)((word >> IREE_HAL_TOPOLOGY_EDGE_WAIT_COST_SHIFT) &
                   IREE_HAL_TOPOLOGY_EDGE_WAIT_COST_MASK);
}

static inline uint8_t
iree_hal_topology_edge_signal_cost(iree_hal_topology_edge_scheduling_word_t word) {
  return (uint8_t)((word >> IREE_HAL_TOPOLOGY_EDGE_SIGNAL_COST_SHIFT) &
                   IREE_HAL_TOPOLOGY_EDGE_SIGNAL_COST_MASK);
}

static inline uint8_t
iree_hal_topology_edge_copy_cost(iree_hal_topology_edge_scheduling_word_t word) {
  return (uint8_t)((word >> IREE_HAL_TOPOLOGY_EDGE_COPY_COST_SHIFT) &
                   IREE_HAL_TOPOLOGY_EDGE_COPY_COST_MASK);
}

static inline uint8_t
iree_hal_topology_edge_latency_class(iree_hal_topology_edge_scheduling_word_t word) {
  return (uint8_t)((word >> IREE_HAL_TOPOLOGY_EDGE_LATENCY_CLASS_SHIFT) &
                   IREE_HAL_TOPOLOGY_EDGE_LATENCY_CLASS_MASK);
}

static inline uint8_t
iree_hal_topology_edge_numa_distance(iree_hal_topology_edge_scheduling_word_t word) {
  return (uint8_t)((word >> IREE_HAL_TOPOLOGY_EDGE_NUMA_DISTANCE_SHIFT) &
                   IREE_HAL_TOPOLOGY_EDGE_NUMA_DISTANCE_MASK);
}

static inline iree_hal_topology_link_class_t
iree_hal_topology_edge_link_class(iree_hal_topology_edge_scheduling_word_t word) {
  return (iree_hal_topology_link_class_t)((word >> IREE_HAL_TOPOLOGY_EDGE_LINK_CLASS_SHIFT) &
                                          IREE_HAL_TOPOLOGY_EDGE_LINK_CLASS_MASK);
}

static inline iree_hal_topology_handle_type_t
iree_hal_topology_edge_semaphore_import_types(iree_hal_topology_edge_interop_word_t word) {
  return (iree_hal_topology_handle_type_t)((word >>
                                            IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_IMPORT_TYPES_SHIFT) &
                                           IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_IMPORT_TYPES_MASK);
}

static inline iree_hal_topology_handle_type_t
iree_hal_topology_edge_semaphore_export_types(iree_hal_topology_edge_interop_word_t word) {
  return (iree_hal_topology_handle_type_t)((word >>
                                            IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_EXPORT_TYPES_SHIFT) &
                                           IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_EXPORT_TYPES_MASK);
}

static inline iree_hal_topology_handle_type_t
iree_hal_topology_edge_buffer_import_types(iree_hal_topology_edge_interop_word_t word) {
  return (
      iree_hal_topology_handle_type_t)((word >> IREE_HAL_TOPOLOGY_EDGE_BUFFER_IMPORT_TYPES_SHIFT) &
                                       IREE_HAL_TOPOLOGY_EDGE_BUFFER_IMPORT_TYPES_MASK);
}

static inline iree_hal_topology_handle_type_t
iree_hal_topology_edge_buffer_export_types(iree_hal_topology_edge_interop_word_t word) {
  return (
      iree_hal_topology_handle_type_t)((word >> IREE_HAL_TOPOLOGY_EDGE_BUFFER_EXPORT_TYPES_SHIFT) &
                                       IREE_HAL_TOPOLOGY_EDGE_BUFFER_EXPORT_TYPES_MASK);
}

/// The edge between two devices from what they say of themselves.
IREE_API_EXPORT iree_hal_topology_edge_t iree_hal_topology_edge_from_capabilities(
    const iree_hal_device_capabilities_t* src_caps, const iree_hal_device_capabilities_t* dst_caps,
    iree_string_view_t src_driver_name, iree_string_view_t dst_driver_name);

/// Appends an edge as text.
IREE_API_EXPORT iree_status_t iree_hal_topology_edge_format(iree_hal_topology_edge_t edge,
                                                            iree_string_builder_t* builder);

/// Appends all edges as text, one a line.
IREE_API_EXPORT iree_status_t iree_hal_topology_dump_matrix(const iree_hal_topology_t* topology,
                                                            iree_string_builder_t* builder);

#ifdef __cplusplus
}
#endif
#endif
