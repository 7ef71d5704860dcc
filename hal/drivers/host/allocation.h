#pragma once

// queue_alloca: from a request to memory behind a transient buffer, without a thread that waits.

#include <memory>

#include "hal/drivers/host/queue.h"
#include "hal/drivers/host/transient_buffer.h"
#include "iree/async/notification.h"
#include "iree/hal/pool.h"

namespace bessemer::hal::host {

/// One allocation on its way. It tries to reserve memory when `start` is called and, where its
/// flags allow that, again whenever the pool releases some.
class Allocation : public std::enable_shared_from_this<Allocation> {
public:
  Allocation(Queue* queue, iree_async_frontier_tracker_t* tracker,
             std::shared_ptr<Operation> operation, Retained<iree_hal_pool_t> pool,
             const iree_hal_buffer_params_t& params, iree_hal_alloca_flags_t flags,
             TransientBuffer* buffer);
  ~Allocation();

  /// Reserves memory now. An error return means that the request cannot be served; nothing has been
  /// settled then.
  iree_status_t start();

  /// Settles the operation with `status`, which is taken.
  void fail(iree_status_t status) { operation_->settle(status, nullptr); }

private:
  iree_status_t waitForFrontier(const iree_async_frontier_t* frontier);
  iree_status_t waitForRelease(uint32_t token);
  void retry();
  iree_status_t commitOnQueue();

  Queue* queue_;
  iree_async_frontier_tracker_t* tracker_;
  std::shared_ptr<Operation> operation_;
  Retained<iree_hal_pool_t> pool_;
  iree_hal_buffer_params_t params_;
  iree_hal_alloca_flags_t flags_;
  Retained<iree_hal_buffer_t> bufferOwner_;
  TransientBuffer* buffer_;
  iree_hal_pool_reservation_t reservation_ = {};
  bool holdsReservation_ = false;

  iree_async_notification_listener_t listener_ = {};
  iree_async_frontier_waiter_t waiter_ = {};
  /// Keeps this alive while a listener or waiter is registered.
  std::shared_ptr<Allocation> registered_;
};

} // namespace bessemer::hal::host
