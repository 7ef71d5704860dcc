#include "hal/drivers/host/queue.h"

#include "hal/hal/semaphore_wait.h"

namespace bessemer::hal::host {

//===--- Operation ----------------------------------------------------------------------------===//

iree_status_t Operation::create(iree_hal_device_t* device, iree_hal_semaphore_list_t signals,
                                std::shared_ptr<Operation>* out_operation) {
  std::shared_ptr<Operation> operation(new Operation());
  operation->device_ = Retained(device);
  operation->hostAllocator_ = iree_hal_device_host_allocator(device);
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_list_clone(&signals, operation->hostAllocator_, &operation->signals_));
  *out_operation = std::move(operation);
  return iree_ok_status();
}

Operation::~Operation() {
  if (!settled_) {
    settle(iree_make_status(IREE_STATUS_CANCELLED, "the operation was dropped before it ran"),
           nullptr);
  }
  iree_hal_semaphore_list_free(signals_, hostAllocator_);
}

void Operation::settle(iree_status_t status, const iree_async_frontier_t* frontier) {
  if (std::exchange(settled_, true)) {
    iree_status_ignore(status);
    return;
  }
  // Whoever waits for the signals finds the operation in the profile.
  report(iree_status_code(status));
  if (iree_status_is_ok(status))
    status = iree_hal_semaphore_list_signal(signals_, frontier);
  if (!iree_status_is_ok(status))
    iree_hal_semaphore_list_fail(signals_, status);
}

void Operation::handOver() {
  report(IREE_STATUS_OK);
  settled_ = true;
}

void Operation::profile(std::shared_ptr<ProfileSession> session, const Work& work, size_t queue,
                        size_t waitCount) {
  session_ = std::move(session);
  work_ = work;
  queue_ = static_cast<uint32_t>(queue);
  waitCount_ = waitCount;
  if (session_)
    times_.submitted = iree_time_now();
}

void Operation::ready() {
  if (session_)
    times_.ready = iree_time_now();
}

void Operation::started() {
  if (session_)
    times_.started = iree_time_now();
}

void Operation::report(iree_status_code_t code) {
  if (!session_)
    return;
  times_.ended = iree_time_now();
  session_->record(work_, times_, queue_, waitCount_, signals_.count, code);
}

//===--- Queue --------------------------------------------------------------------------------===//

Queue::Queue() : state_(std::make_shared<State>()), thread_(run, state_) {}

Queue::~Queue() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_one();
  // The last reference to a device may go with an operation, on the queue's own thread.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Queue::run(std::shared_ptr<State> state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->stopping || !state->work.empty(); });
    if (state->work.empty())
      return;
    {
      std::function<void()> work = std::move(state->work.front());
      state->work.pop_front();
      lock.unlock();
      work();
      // What the work holds goes here, without the lock.
    }
    lock.lock();
  }
}

void Queue::setAxis(Axis axis) {
  std::lock_guard lock(axisMutex_);
  axis_ = axis;
  epoch_ = 0;
}

void Queue::post(std::function<void()> work) {
  {
    std::lock_guard lock(state_->mutex);
    state_->work.push_back(std::move(work));
  }
  state_->changed.notify_one();
}

iree_status_t Queue::submit(iree_hal_semaphore_list_t waits, std::shared_ptr<Operation> operation,
                            std::function<iree_status_t()> body,
                            std::function<void()> onFailedWait) {
  // Shared, so that what the work holds can go before its signals come, whoever still has a copy.
  auto work = std::make_shared<std::function<iree_status_t()>>(std::move(body));
  iree_status_t status =
      whenReached(waits, iree_allocator_system(),
                  [this, operation, work, onFailedWait](iree_status_t waitStatus) {
                    if (!iree_status_is_ok(waitStatus)) {
                      if (onFailedWait)
                        onFailedWait();
                      *work = nullptr;
                      operation->settle(waitStatus, nullptr);
                      return;
                    }
                    operation->ready();
                    post([this, operation, work] {
                      operation->started();
                      iree_status_t result = (*work)();
                      *work = nullptr;
                      complete(*operation, result);
                    });
                  });
  // An operation that was never accepted leaves its semaphores alone: the caller is told.
  if (!iree_status_is_ok(status))
    operation->disown();
  return status;
}

void Queue::complete(Operation& operation, iree_status_t status) {
  iree_async_single_frontier_t storage;
  const iree_async_frontier_t* frontier = advance(&storage);
  operation.settle(status, frontier);
}

const iree_async_frontier_t* Queue::advance(iree_async_single_frontier_t* storage) {
  Axis axis;
  uint64_t epoch;
  {
    std::lock_guard lock(axisMutex_);
    axis = axis_;
    epoch = ++epoch_;
  }
  if (!axis.tracker)
    return nullptr;
  iree_async_frontier_tracker_advance(axis.tracker, axis.axis, epoch);
  iree_async_single_frontier_initialize(storage, axis.axis, epoch);
  return iree_async_single_frontier_as_const_frontier(storage);
}

const iree_async_frontier_t* Queue::position(iree_async_single_frontier_t* storage) {
  std::lock_guard lock(axisMutex_);
  if (!axis_.tracker || epoch_ == 0)
    return nullptr;
  iree_async_single_frontier_initialize(storage, axis_.axis, epoch_);
  return iree_async_single_frontier_as_const_frontier(storage);
}

} // namespace bessemer::hal::host
