// Frontiers: vector clocks over the queues of a system.
//
// An axis is one sequence of events (a queue, mostly), an epoch a point on it. A frontier is a set
// of (axis, epoch) pairs: everything up to those points has happened, or must have.

#ifndef IREE_ASYNC_FRONTIER_H_
#define IREE_ASYNC_FRONTIER_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_async_causal_domain_e {
  IREE_ASYNC_CAUSAL_DOMAIN_QUEUE = 0,
  IREE_ASYNC_CAUSAL_DOMAIN_COLLECTIVE = 1,
  IREE_ASYNC_CAUSAL_DOMAIN_EPILOGUE = 2,
  IREE_ASYNC_CAUSAL_DOMAIN_HOST = 3,
};
typedef uint8_t iree_async_causal_domain_t;

// Bits: session 63-56, machine 55-48, domain 47-40, ordinal 39-0.
// The ordinal of a queue: device 39-32, queue 31-24.
typedef uint64_t iree_async_axis_t;

static inline iree_async_axis_t iree_async_axis_make(uint8_t session_epoch, uint8_t machine_index,
                                                     iree_async_causal_domain_t domain,
                                                     uint64_t ordinal) {
  const uint64_t ordinal_mask = ((uint64_t)1 << 40) - 1;
  return (uint64_t)session_epoch << 56 | (uint64_t)machine_index << 48 | (uint64_t)domain << 40 |
         (ordinal & ordinal_mask);
}

static inline iree_async_axis_t iree_async_axis_make_queue(uint8_t session_epoch,
                                                           uint8_t machine_index,
                                                           uint8_t device_index,
                                                           uint8_t queue_index) {
  return iree_async_axis_make(session_epoch, machine_index, IREE_ASYNC_CAUSAL_DOMAIN_QUEUE,
                              (uint64_t)device_index << 32 | (uint64_t)queue_index << 24);
}

static inline uint8_t iree_async_axis_session(iree_async_axis_t axis) {
  return (uint8_t)(axis >> 56);
}

static inline uint8_t iree_async_axis_machine(iree_async_axis_t axis) {
  return (uint8_t)(axis >> 48);
}

static inline iree_async_causal_domain_t iree_async_axis_domain(iree_async_axis_t axis) {
  return (iree_async_causal_domain_t)(axis >> 40);
}

static inline uint64_t iree_async_axis_ordinal(iree_async_axis_t axis) {
  return axis & (((uint64_t)1 << 40) - 1);
}

static inline uint8_t iree_async_axis_device_index(iree_async_axis_t axis) {
  return (uint8_t)(axis >> 32);
}

static inline uint8_t iree_async_axis_queue_index(iree_async_axis_t axis) {
  return (uint8_t)(axis >> 24);
}

typedef struct iree_async_frontier_entry_t {
  iree_async_axis_t axis;
  uint64_t epoch;
} iree_async_frontier_entry_t;

#define IREE_ASYNC_FRONTIER_HEADER_FIELDS                                                          \
  uint8_t entry_count;                                                                             \
  uint8_t reserved[7]
#define IREE_ASYNC_FRONTIER_ALIGNMENT 8

typedef struct iree_alignas(IREE_ASYNC_FRONTIER_ALIGNMENT) iree_async_frontier_header_t {
  IREE_ASYNC_FRONTIER_HEADER_FIELDS;
} iree_async_frontier_header_t;

// Entries are sorted by axis, each axis at most once, epochs above 0.
typedef struct iree_async_frontier_t {
  IREE_ASYNC_FRONTIER_HEADER_FIELDS;
  iree_async_frontier_entry_t entries[];
} iree_async_frontier_t;

static_assert(offsetof(iree_async_frontier_t, entries) == sizeof(iree_async_frontier_header_t),
              "entries follow the header");

// Defines a frontier type with room for `entry_capacity` entries.
#define IREE_ASYNC_FIXED_FRONTIER_TYPE(type_name, entry_capacity)                                  \
  typedef struct type_name {                                                                       \
    IREE_ASYNC_FRONTIER_HEADER_FIELDS;                                                             \
    iree_async_frontier_entry_t entries[(entry_capacity)];                                         \
  } type_name;                                                                                     \
  static_assert(offsetof(type_name, entries) == sizeof(iree_async_frontier_header_t),              \
                #type_name " must be laid out as a frontier")

IREE_ASYNC_FIXED_FRONTIER_TYPE(iree_async_single_frontier_t, 1);

static inline iree_async_frontier_t* iree_async_fixed_frontier_as_frontier(void* storage) {
  return (iree_async_frontier_t*)storage;
}

static inline const iree_async_frontier_t*
iree_async_fixed_frontier_as_const_frontier(const void* storage) {
  return (const iree_async_frontier_t*)storage;
}

static inline iree_async_frontier_t*
iree_async_single_frontier_as_frontier(iree_async_single_frontier_t* single) {
  return iree_async_fixed_frontier_as_frontier(single);
}

static inline const iree_async_frontier_t*
iree_async_single_frontier_as_const_frontier(const iree_async_single_frontier_t* single) {
  return iree_async_fixed_frontier_as_const_frontier(single);
}

// Bytes for a frontier of `entry_count` entries. OUT_OF_RANGE above 255.
static inline iree_status_t iree_async_frontier_size(iree_host_size_t entry_count,
                                                     iree_host_size_t* out_size) {
  *out_size = 0;
  if (entry_count > UINT8_MAX) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "a frontier has at most 255 entries; %" PRIhsz " were asked for",
                            entry_count);
  }
  *out_size =
      sizeof(iree_async_frontier_header_t) + entry_count * sizeof(iree_async_frontier_entry_t);
  return iree_ok_status();
}

// Sets the count; the caller fills the entries.
static inline void iree_async_frontier_initialize(iree_async_frontier_t* frontier,
                                                  uint8_t entry_count) {
  memset(frontier, 0, sizeof(iree_async_frontier_header_t));
  frontier->entry_count = entry_count;
}

static inline void iree_async_single_frontier_initialize(iree_async_single_frontier_t* frontier,
                                                         iree_async_axis_t axis, uint64_t epoch) {
  iree_async_frontier_initialize(iree_async_single_frontier_as_frontier(frontier), 1);
  frontier->entries[0].axis = axis;
  frontier->entries[0].epoch = epoch;
}

// INVALID_ARGUMENT when entries are out of order, repeated, or at epoch 0.
iree_status_t iree_async_frontier_validate(const iree_async_frontier_t* frontier);

enum iree_async_frontier_comparison_e {
  IREE_ASYNC_FRONTIER_EQUAL = 0,
  IREE_ASYNC_FRONTIER_BEFORE = 1,
  IREE_ASYNC_FRONTIER_AFTER = 2,
  IREE_ASYNC_FRONTIER_CONCURRENT = 3,
};
typedef uint8_t iree_async_frontier_comparison_t;

// How `a` stands to `b`; a missing axis is at epoch 0.
iree_async_frontier_comparison_t iree_async_frontier_compare(const iree_async_frontier_t* a,
                                                             const iree_async_frontier_t* b);

// Raises `target` to hold all of `source`. False when `target_capacity` is too small: `target` then
// is what it was.
bool iree_async_frontier_merge(iree_async_frontier_t* target, uint8_t target_capacity,
                               const iree_async_frontier_t* source);
// The same, and tells whether `source` alone held all of the old `target`.
bool iree_async_frontier_merge_and_test_source_dominance(iree_async_frontier_t* target,
                                                         uint8_t target_capacity,
                                                         const iree_async_frontier_t* source,
                                                         bool* out_source_dominates_target);

// Whether every entry is reached by `current_epochs`, which are sorted by axis.
bool iree_async_frontier_is_satisfied(const iree_async_frontier_t* frontier,
                                      const iree_async_frontier_entry_t* current_epochs,
                                      iree_host_size_t current_epochs_count);

// Writes up to `capacity` entries of `target` that `reference` does not hold; returns how many
// there are in all.
uint8_t iree_async_frontier_find_undominated(const iree_async_frontier_t* reference,
                                             const iree_async_frontier_t* target, uint8_t capacity,
                                             iree_async_frontier_entry_t* out_entries);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_FRONTIER_H_
