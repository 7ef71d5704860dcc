#pragma once

// What queue_alloca returns: a buffer that has its properties at once and its memory from the time
// the allocation executes until its deallocation executes.

#include <mutex>

#include "hal/drivers/host/retained.h"
#include "iree/hal/buffer.h"
#include "iree/hal/pool.h"

namespace bessemer::hal::host {

class TransientBuffer {
public:
  static iree_status_t create(iree_hal_buffer_placement_t placement,
                              const iree_hal_buffer_params_t& params, iree_device_size_t size,
                              iree_allocator_t hostAllocator, TransientBuffer** out_buffer);

  /// `buffer`'s allocation as a transient buffer, or null.
  static TransientBuffer* from(iree_hal_buffer_t* buffer);

  iree_hal_buffer_t* base() { return &base_; }

  /// Puts memory behind the buffer.
  void commit(Retained<iree_hal_pool_t> pool, const iree_hal_pool_reservation_t& reservation,
              Retained<iree_hal_buffer_t> storage);

  /// Announces a deallocation; false when one is announced or has happened already.
  bool announceDealloca();
  /// Takes an announcement back: the buffer lives on.
  void revokeDealloca();
  /// Takes the memory away and gives it back to its pool; FAILED_PRECONDITION when there is none.
  iree_status_t decommit(const iree_async_frontier_t* deathFrontier);

  /// The memory behind the buffer; FAILED_PRECONDITION before it is there and after it went.
  iree_status_t storage(Retained<iree_hal_buffer_t>* out_storage);

private:
  static void destroy(iree_hal_buffer_t* base);
  static const iree_hal_buffer_vtable_t kVtable;

  // Must be first: the HAL sees only this.
  iree_hal_buffer_t base_;
  iree_allocator_t hostAllocator_;
  std::mutex mutex_;
  Retained<iree_hal_pool_t> pool_;
  iree_hal_pool_reservation_t reservation_ = {};
  Retained<iree_hal_buffer_t> storage_;
  bool deallocaAnnounced_ = false;
};

} // namespace bessemer::hal::host
