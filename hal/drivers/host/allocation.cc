#include "hal/drivers/host/allocation.h"

namespace bessemer::hal::host {

Allocation::Allocation(Queue* queue, iree_async_frontier_tracker_t* tracker,
                       std::shared_ptr<Operation> operation, Retained<iree_hal_pool_t> pool,
                       const iree_hal_buffer_params_t& params, iree_hal_alloca_flags_t flags,
                       TransientBuffer* buffer)
    : queue_(queue), tracker_(tracker), operation_(std::move(operation)), pool_(std::move(pool)),
      params_(params), flags_(flags), bufferOwner_(buffer->base()), buffer_(buffer) {}

Allocation::~Allocation() {
  if (holdsReservation_)
    iree_hal_pool_release_reservation(pool_.get(), &reservation_, nullptr);
}

iree_status_t Allocation::start() {
  const bool mayWait = iree_any_bit_set(flags_, IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER);
  iree_async_notification_t* notification = iree_hal_pool_notification(pool_.get());
  // Observing before the attempt means that no release after it is missed.
  const uint32_t token = iree_async_notification_begin_observe(notification);
  iree_async_single_frontier_t position;
  iree_hal_pool_acquire_info_t info;
  iree_hal_pool_acquire_result_t result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  iree_status_t status = iree_hal_pool_acquire_reservation(
      pool_.get(), buffer_->base()->byte_length, params_.min_alignment, queue_->position(&position),
      mayWait ? IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER : IREE_HAL_POOL_RESERVE_FLAG_NONE,
      &reservation_, &info, &result);
  if (iree_status_is_ok(status)) {
    switch (result) {
    case IREE_HAL_POOL_ACQUIRE_OK:
    case IREE_HAL_POOL_ACQUIRE_OK_FRESH:
      holdsReservation_ = true;
      status = commitOnQueue();
      break;
    case IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT:
      holdsReservation_ = true;
      status = waitForFrontier(info.wait_frontier);
      break;
    default:
      status = mayWait ? waitForRelease(token)
                       : iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                                          "the pool has no %" PRIdsz
                                          " bytes free and the request may not wait",
                                          buffer_->base()->byte_length);
      break;
    }
  }
  iree_async_notification_end_observe(notification);
  return status;
}

iree_status_t Allocation::waitForFrontier(const iree_async_frontier_t* frontier) {
  if (!frontier || !tracker_)
    return commitOnQueue();
  registered_ = shared_from_this();
  iree_status_t status = iree_async_frontier_tracker_wait(
      tracker_, frontier,
      [](void* user_data, iree_status_t status) {
        std::shared_ptr<Allocation> self =
            std::move(static_cast<Allocation*>(user_data)->registered_);
        if (iree_status_is_ok(status))
          status = self->commitOnQueue();
        if (!iree_status_is_ok(status))
          self->fail(status);
      },
      this, &waiter_);
  if (!iree_status_is_ok(status))
    registered_ = nullptr;
  return status;
}

iree_status_t Allocation::waitForRelease(uint32_t token) {
  registered_ = shared_from_this();
  listener_.fn = [](void* user_data) {
    std::shared_ptr<Allocation> self = std::move(static_cast<Allocation*>(user_data)->registered_);
    self->retry();
  };
  listener_.user_data = this;
  if (!iree_async_notification_add_listener(iree_hal_pool_notification(pool_.get()), token,
                                            &listener_)) {
    // Something was released since: try again, but not from within this attempt.
    std::shared_ptr<Allocation> self = std::move(registered_);
    queue_->post([self] { self->retry(); });
  }
  return iree_ok_status();
}

void Allocation::retry() {
  iree_status_t status = start();
  if (!iree_status_is_ok(status))
    fail(status);
}

iree_status_t Allocation::commitOnQueue() {
  iree_hal_buffer_t* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_pool_materialize_reservation(
      pool_.get(), params_, &reservation_, IREE_HAL_POOL_MATERIALIZE_FLAG_NONE, &storage));
  auto owner = Retained<iree_hal_buffer_t>::adopt(storage);
  operation_->ready();
  queue_->post([self = shared_from_this(), owner] {
    self->operation_->started();
    self->buffer_->commit(self->pool_, self->reservation_, owner);
    self->holdsReservation_ = false;
    self->queue_->complete(*self->operation_, iree_ok_status());
  });
  return iree_ok_status();
}

} // namespace bessemer::hal::host
