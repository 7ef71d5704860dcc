#ifndef IREE_HAL_TOPOLOGY_BUILDER_H_
#define IREE_HAL_TOPOLOGY_BUILDER_H_

#include "iree/base/api.h"
#include "iree/hal/topology.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// `word` with the field at `shift` replaced.
static inline uint64_t iree_hal_topology_edge_replace_bits(uint64_t word, unsigned shift,
                                                           uint64_t mask, uint64_t value) {
  return (word & ~(mask << shift)) | ((value & mask) << shift);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_wait_mode(iree_hal_topology_edge_scheduling_word_t word,
                                     iree_hal_topology_interop_mode_t mode) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_WAIT_MODE_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_WAIT_MODE_MASK, mode);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_signal_mode(iree_hal_topology_edge_scheduling_word_t word,
                                       iree_hal_topology_interop_mode_t mode) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_SIGNAL_MODE_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_SIGNAL_MODE_MASK, mode);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_buffer_read_mode_noncoherent(
    iree_hal_topology_edge_scheduling_word_t word, iree_hal_topology_interop_mode_t mode) {
  return iree_hal_topology_edge_replace_bits(
      word, IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_NONCOHERENT_SHIFT,
      IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_NONCOHERENT_MASK, mode);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_buffer_write_mode_noncoherent(
    iree_hal_topology_edge_scheduling_word_t word, iree_hal_topology_interop_mode_t mode) {
  return iree_hal_topology_edge_replace_bits(
      word, IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_NONCOHERENT_SHIFT,
      IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_NONCOHERENT_MASK, mode);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_buffer_read_mode_coherent(iree_hal_topology_edge_scheduling_word_t word,
                                                     iree_hal_topology_interop_mode_t mode) {
  return iree_hal_topology_edge_replace_bits(
      word, IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_COHERENT_SHIFT,
      IREE_HAL_TOPOLOGY_EDGE_BUFFER_READ_MODE_COHERENT_MASK, mode);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_buffer_write_mode_coherent(iree_hal_topology_edge_scheduling_word_t word,
                                                      iree_hal_topology_interop_mode_t mode) {
  return iree_hal_topology_edge_replace_bits(
      word, IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_COHERENT_SHIFT,
      IREE_HAL_TOPOLOGY_EDGE_BUFFER_WRITE_MODE_COHERENT_MASK, mode);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_capability_flags(iree_hal_topology_edge_scheduling_word_t word,
                                            iree_hal_topology_capability_t flags) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_CAPABILITY_FLAGS_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_CAPABILITY_FLAGS_MASK, flags);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_wait_cost(iree_hal_topology_edge_scheduling_word_t word, uint8_t cost) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_WAIT_COST_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_WAIT_COST_MASK, cost);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_signal_cost(iree_hal_topology_edge_scheduling_word_t word,
                                       uint8_t cost) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_SIGNAL_COST_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_SIGNAL_COST_MASK, cost);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_copy_cost(iree_hal_topology_edge_scheduling_word_t word, uint8_t cost) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_COPY_COST_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_COPY_COST_MASK, cost);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_latency_class(iree_hal_topology_edge_scheduling_word_t word,
                                         uint8_t latency_class) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_LATENCY_CLASS_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_LATENCY_CLASS_MASK,
                                             latency_class);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_numa_distance(iree_hal_topology_edge_scheduling_word_t word,
                                         uint8_t distance) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_NUMA_DISTANCE_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_NUMA_DISTANCE_MASK, distance);
}

static inline iree_hal_topology_edge_scheduling_word_t
iree_hal_topology_edge_set_link_class(iree_hal_topology_edge_scheduling_word_t word,
                                      iree_hal_topology_link_class_t link_class) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_LINK_CLASS_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_LINK_CLASS_MASK, link_class);
}

static inline iree_hal_topology_edge_interop_word_t
iree_hal_topology_edge_set_semaphore_import_types(iree_hal_topology_edge_interop_word_t word,
                                                  iree_hal_topology_handle_type_t types) {
  return iree_hal_topology_edge_replace_bits(
      word, IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_IMPORT_TYPES_SHIFT,
      IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_IMPORT_TYPES_MASK, types);
}

static inline iree_hal_topology_edge_interop_word_t
iree_hal_topology_edge_set_semaphore_export_types(iree_hal_topology_edge_interop_word_t word,
                                                  iree_hal_topology_handle_type_t types) {
  return iree_hal_topology_edge_replace_bits(
      word, IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_EXPORT_TYPES_SHIFT,
      IREE_HAL_TOPOLOGY_EDGE_SEMAPHORE_EXPORT_TYPES_MASK, types);
}

static inline iree_hal_topology_edge_interop_word_t
iree_hal_topology_edge_set_buffer_import_types(iree_hal_topology_edge_interop_word_t word,
                                               iree_hal_topology_handle_type_t types) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_BUFFER_IMPORT_TYPES_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_BUFFER_IMPORT_TYPES_MASK,
                                             types);
}

static inline iree_hal_topology_edge_interop_word_t
iree_hal_topology_edge_set_buffer_export_types(iree_hal_topology_edge_interop_word_t word,
                                               iree_hal_topology_handle_type_t types) {
  return iree_hal_topology_edge_replace_bits(word, IREE_HAL_TOPOLOGY_EDGE_BUFFER_EXPORT_TYPES_SHIFT,
                                             IREE_HAL_TOPOLOGY_EDGE_BUFFER_EXPORT_TYPES_MASK,
                                             types);
}

/// A topology in the making.
typedef struct iree_hal_topology_builder_t {
  iree_hal_topology_t topology;
  bool edges_set[IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT * IREE_HAL_TOPOLOGY_MAX_DEVICE_COUNT];
} iree_hal_topology_builder_t;

/// The edge from a device to itself.
IREE_API_EXPORT iree_hal_topology_edge_t iree_hal_topology_edge_make_self(void);

/// A cautious edge between devices of different drivers.
IREE_API_EXPORT iree_hal_topology_edge_t iree_hal_topology_edge_make_cross_driver(void);

/// Starts with the devices' edges to themselves.
IREE_API_EXPORT void iree_hal_topology_builder_initialize(iree_hal_topology_builder_t* builder,
                                                          uint32_t device_count);

/// Sets an edge; INVALID_ARGUMENT beyond the devices, or when a device could not reach itself.
IREE_API_EXPORT iree_status_t
iree_hal_topology_builder_set_edge(iree_hal_topology_builder_t* builder, uint32_t src_ordinal,
                                   uint32_t dst_ordinal, iree_hal_topology_edge_t edge);

/// Sets a device's memory node.
IREE_API_EXPORT iree_status_t iree_hal_topology_builder_set_numa_node(
    iree_hal_topology_builder_t* builder, uint32_t device_ordinal, uint8_t numa_node);

/// Checks that all edges are set and agree about the links, and copies them out.
IREE_API_EXPORT iree_status_t iree_hal_topology_builder_finalize(
    iree_hal_topology_builder_t* builder, iree_hal_topology_t* out_topology);

#ifdef __cplusplus
}
#endif
#endif
