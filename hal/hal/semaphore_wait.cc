#include "hal/hal/semaphore_wait.h"

#include <atomic>
#include <memory>
#include <vector>

namespace bessemer::hal {
namespace {

/// One wait for a list. Deletes itself after its last timepoint has come back.
class ListWait {
public:
  ListWait(iree_hal_semaphore_list_t list, iree_allocator_t hostAllocator,
           std::function<void(iree_status_t)> then)
      : list_(list), hostAllocator_(hostAllocator), then_(std::move(then)), points_(list.count),
        // One for each timepoint and one for `start` itself.
        pending_(list.count + 1) {}

  ListWait(const ListWait&) = delete;
  ListWait& operator=(const ListWait&) = delete;

  void start() {
    for (size_t i = 0; i < points_.size(); ++i) {
      points_[i].timepoint.callback = onTimepoint;
      points_[i].timepoint.user_data = this;
      iree_status_t status = iree_async_semaphore_acquire_timepoint(
          reinterpret_cast<iree_async_semaphore_t*>(list_.semaphores[i]), list_.payload_values[i],
          &points_[i].timepoint);
      if (!iree_status_is_ok(status)) {
        noteFailure(status);
        finish(1);
      } else {
        points_[i].acquired = true;
      }
    }
    started_.store(true);
    // A failure during the loop above left the cancelling to us.
    if (failed_.load())
      cancelOthers();
    finish(1);
  }

private:
  struct Point {
    iree_async_semaphore_timepoint_t timepoint = {};
    /// Written before `started_`, read after it.
    bool acquired = false;
  };

  static void onTimepoint(void* user_data, iree_async_semaphore_timepoint_t*,
                          iree_status_t status) {
    auto* self = static_cast<ListWait*>(user_data);
    if (!iree_status_is_ok(status)) {
      self->noteFailure(status);
      // With one timepoint failed the others do not matter any more.
      if (self->started_.load())
        self->cancelOthers();
    }
    self->finish(1);
  }

  void noteFailure(iree_status_t status) {
    iree_status_t none = iree_ok_status();
    if (!failure_.compare_exchange_strong(none, status))
      iree_status_ignore(status);
    failed_.store(true);
  }

  /// Takes back the timepoints that have not fired. The caller's own count keeps `this` alive.
  void cancelOthers() {
    if (cancelling_.exchange(true))
      return;
    size_t cancelled = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].acquired && iree_async_semaphore_cancel_timepoint(
                                     reinterpret_cast<iree_async_semaphore_t*>(list_.semaphores[i]),
                                     &points_[i].timepoint)) {
        ++cancelled;
      }
    }
    if (cancelled)
      finish(cancelled);
  }

  void finish(size_t count) {
    if (pending_.fetch_sub(count) != count)
      return;
    std::unique_ptr<ListWait> self(this);
    iree_hal_semaphore_list_free(list_, hostAllocator_);
    then_(failure_.load());
  }

  iree_hal_semaphore_list_t list_;
  iree_allocator_t hostAllocator_;
  std::function<void(iree_status_t)> then_;
  std::vector<Point> points_;
  std::atomic<size_t> pending_;
  std::atomic<iree_status_t> failure_{iree_ok_status()};
  std::atomic<bool> failed_{false};
  std::atomic<bool> started_{false};
  std::atomic<bool> cancelling_{false};
};

} // namespace

iree_status_t whenReached(iree_hal_semaphore_list_t list, iree_allocator_t hostAllocator,
                          std::function<void(iree_status_t)> then) {
  iree_hal_semaphore_list_t retained;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_list_clone(&list, hostAllocator, &retained));
  (new ListWait(retained, hostAllocator, std::move(then)))->start();
  return iree_ok_status();
}

} // namespace bessemer::hal
