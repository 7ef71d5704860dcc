// Buffers of queue_alloca: there at once, with storage only between their alloca's and their
// dealloca's place in the order of the queue.
#pragma once

#include "drivers/metal/objects.h"
#include "iree/hal/pool.h"

namespace bessemer::metal_driver {

/// A buffer without storage. `params` are resolved.
iree_status_t CreateTransient(iree_hal_buffer_placement_t placement,
                              const iree_hal_buffer_params_t& params,
                              iree_device_size_t allocation_size, iree_device_size_t byte_length,
                              iree_allocator_t host_allocator, iree_hal_buffer_t** out_buffer);

bool IsTransient(const iree_hal_buffer_t* buffer);
/// The number of its allocation, for profiles.
uint64_t TransientId(const iree_hal_buffer_t* buffer);

/// Where storage came from, and goes back to.
struct StorageOrigin {
  /// NULL: memory of its own.
  HalPtr<iree_hal_pool_t> pool;
  iree_hal_pool_reservation_t reservation = {};
  /// The pool need not be told behind what the storage becomes free: it is so when it is given
  /// back.
  bool frees_at_once = false;
};

/// Gives the buffer its storage, materialized without ownership when it has an origin.
void CommitTransient(iree_hal_buffer_t* buffer, HalPtr<iree_hal_buffer_t> storage,
                     StorageOrigin origin);

/// The committed storage; FAILED_PRECONDITION before and after.
iree_status_t TransientStorage(iree_hal_buffer_t* buffer, iree_hal_buffer_t** out_storage);

/// Takes the right to free the storage, which only one dealloca can have. FAILED_PRECONDITION when
/// another has it. Given back when that dealloca cannot run.
iree_status_t BeginTransientDealloca(iree_hal_buffer_t* buffer);
void CancelTransientDealloca(iree_hal_buffer_t* buffer);
/// Frees the storage: usable by whoever comes behind `death_frontier` (NULL: by all). Returns the
/// pool that got it back, if there is one.
HalPtr<iree_hal_pool_t> DecommitTransient(iree_hal_buffer_t* buffer,
                                          const iree_async_frontier_t* death_frontier);

} // namespace bessemer::metal_driver
