#pragma once

// One queue of the device: operations start when their waits are reached and run one after the
// other on the queue's own thread.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "hal/drivers/host/profile_session.h"
#include "hal/drivers/host/retained.h"
#include "iree/async/frontier.h"
#include "iree/async/frontier_tracker.h"
#include "iree/hal/device.h"

namespace bessemer::hal::host {

/// Work with the semaphores that its end signals. Destroying it without settling fails them.
class Operation {
public:
  /// Retains `signals` and `device`.
  static iree_status_t create(iree_hal_device_t* device, iree_hal_semaphore_list_t signals,
                              std::shared_ptr<Operation>* out_operation);
  ~Operation();

  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  iree_hal_semaphore_list_t signals() const { return signals_; }

  /// Has `session` (may be null) told of the operation when it is settled.
  void profile(std::shared_ptr<ProfileSession> session, const Work& work, size_t queue,
               size_t waitCount);
  /// Notes that the waits are over.
  void ready();
  /// Notes that the work begins.
  void started();

  /// Signals, or fails with `status`, which is taken. Only the first call counts.
  void settle(iree_status_t status, const iree_async_frontier_t* frontier);
  /// Leaves the semaphores alone: the operation was not accepted.
  void disown() { settled_ = true; }
  /// Leaves the semaphores to someone else, who goes on with the work.
  void handOver();

private:
  Operation() = default;

  Retained<iree_hal_device_t> device_;
  iree_allocator_t hostAllocator_;
  iree_hal_semaphore_list_t signals_;
  bool settled_ = false;

  void report(iree_status_code_t code);

  std::shared_ptr<ProfileSession> session_;
  Work work_;
  WorkTimes times_;
  uint32_t queue_ = 0;
  size_t waitCount_ = 0;
};

class Queue {
public:
  /// The queue's place on its axis of the frontier tracker, while the device is in a group.
  struct Axis {
    iree_async_frontier_tracker_t* tracker = nullptr;
    iree_async_axis_t axis = 0;
  };

  Queue();
  ~Queue();

  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void setAxis(Axis axis);

  /// Runs `body` once `waits` are reached and settles `operation` with what it returns. A failed
  /// wait settles it with that failure after `onFailedWait`, and `body` does not run.
  iree_status_t submit(iree_hal_semaphore_list_t waits, std::shared_ptr<Operation> operation,
                       std::function<iree_status_t()> body,
                       std::function<void()> onFailedWait = nullptr);

  /// Runs `work` on the queue's thread.
  void post(std::function<void()> work);

  /// Completes `operation` with `status` at the next epoch of the queue.
  void complete(Operation& operation, iree_status_t status);

  /// Advances the queue to its next epoch and says where it is then; null without a tracker.
  const iree_async_frontier_t* advance(iree_async_single_frontier_t* storage);
  /// Where the queue is now.
  const iree_async_frontier_t* position(iree_async_single_frontier_t* storage);

private:
  /// Shared with the thread, which may outlive the queue for the moment in which it destroys it.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    bool stopping = false;
  };

  static void run(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
  std::thread thread_;
  std::mutex axisMutex_;
  Axis axis_;
  uint64_t epoch_ = 0;
};

} // namespace bessemer::hal::host
