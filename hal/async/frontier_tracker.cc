#include "iree/async/frontier_tracker.h"

#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "iree/async/semaphore.h"

namespace {

struct Axis {
  uint64_t epoch = 0;
  iree_async_semaphore_t* semaphore = nullptr;
  // Of the first failure, or of the retirement.
  iree_status_t failure = iree_ok_status();
  bool retired = false;
};

using Waiter = iree_async_frontier_waiter_t;

// Runs callbacks of waiters that are in no list any more.
iree_host_size_t Dispatch(Waiter* waiter) {
  iree_host_size_t count = 0;
  while (waiter) {
    // The storage is the caller's again once the callback starts.
    Waiter* next = waiter->next;
    waiter->callback(waiter->user_data, waiter->dispatch_status);
    waiter = next;
    ++count;
  }
  return count;
}

} // namespace

struct iree_async_frontier_tracker_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t allocator;
  iree_async_frontier_tracker_options_t options;

  mutable std::shared_mutex mutex;
  std::unordered_map<iree_async_axis_t, Axis> axes;
  Waiter* waiters = nullptr;

  ~iree_async_frontier_tracker_t() {
    for (Waiter* waiter = waiters; waiter; waiter = waiter->next) {
      waiter->dispatch_status =
          iree_make_status(IREE_STATUS_CANCELLED, "the frontier tracker was released");
    }
    Dispatch(waiters);
    for (auto& [id, axis] : axes)
      iree_status_free(axis.failure);
  }

  Axis* Find(iree_async_axis_t id) {
    auto found = axes.find(id);
    return found == axes.end() ? nullptr : &found->second;
  }

  enum class Outcome { kPending, kReached, kFailed };

  // What has become of a frontier; its failure is cloned.
  Outcome Check(const iree_async_frontier_t* frontier, iree_status_t* out_failure) {
    Outcome outcome = Outcome::kReached;
    for (uint8_t i = 0; i < frontier->entry_count; ++i) {
      const Axis* axis = Find(frontier->entries[i].axis);
      if (axis && axis->epoch >= frontier->entries[i].epoch && !axis->retired)
        continue;
      if (!axis || !iree_status_is_ok(axis->failure)) {
        *out_failure =
            axis ? iree_status_clone(axis->failure)
                 : iree_make_status(IREE_STATUS_NOT_FOUND, "axis %016" PRIx64 " is not registered",
                                    frontier->entries[i].axis);
        return Outcome::kFailed;
      }
      outcome = Outcome::kPending;
    }
    return outcome;
  }

  // Takes out the waiters that are done, in the order in which they came.
  Waiter* TakeDone() {
    Waiter* done = nullptr;
    Waiter** done_tail = &done;
    for (Waiter** link = &waiters; *link;) {
      Waiter* waiter = *link;
      if (Check(waiter->frontier, &waiter->dispatch_status) == Outcome::kPending) {
        link = &waiter->next;
        continue;
      }
      *link = waiter->next;
      waiter->next = nullptr;
      *done_tail = waiter;
      done_tail = &waiter->next;
    }
    return done;
  }

  void End(iree_async_axis_t id, iree_status_t status, bool retire) {
    Waiter* done = nullptr;
    {
      std::unique_lock lock(mutex);
      Axis* axis = Find(id);
      if (!axis || !iree_status_is_ok(axis->failure)) {
        iree_status_free(status);
      } else {
        axis->failure = status;
      }
      if (axis && retire) {
        axis->retired = true;
        axis->semaphore = nullptr;
      }
      done = TakeDone();
    }
    Dispatch(done);
  }
};

iree_status_t iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_t options,
                                                 iree_allocator_t allocator,
                                                 iree_async_frontier_tracker_t** out_tracker) {
  *out_tracker = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(allocator, sizeof(iree_async_frontier_tracker_t), &storage));
  auto* tracker = new (storage) iree_async_frontier_tracker_t;
  iree_atomic_ref_count_init(&tracker->ref_count);
  tracker->allocator = allocator;
  tracker->options = options;
  *out_tracker = tracker;
  return iree_ok_status();
}

void iree_async_frontier_tracker_retain(iree_async_frontier_tracker_t* tracker) {
  if (tracker)
    iree_atomic_ref_count_inc(&tracker->ref_count);
}

void iree_async_frontier_tracker_release(iree_async_frontier_tracker_t* tracker) {
  if (!tracker || iree_atomic_ref_count_dec(&tracker->ref_count) != 1)
    return;
  iree_allocator_t allocator = tracker->allocator;
  tracker->~iree_async_frontier_tracker_t();
  iree_allocator_free(allocator, tracker);
}

uint8_t iree_async_frontier_tracker_session_epoch(const iree_async_frontier_tracker_t* tracker) {
  return tracker->options.session_epoch;
}

uint8_t iree_async_frontier_tracker_machine_index(const iree_async_frontier_tracker_t* tracker) {
  return tracker->options.machine_index;
}

iree_status_t iree_async_frontier_tracker_register_axis(iree_async_frontier_tracker_t* tracker,
                                                        iree_async_axis_t axis_id,
                                                        iree_async_semaphore_t* semaphore) {
  std::unique_lock lock(tracker->mutex);
  Axis* axis = tracker->Find(axis_id);
  if (axis && !axis->retired) {
    return iree_make_status(IREE_STATUS_ALREADY_EXISTS, "axis %016" PRIx64 " is registered already",
                            axis_id);
  }
  if (!axis) {
    if (tracker->axes.size() >= tracker->options.axis_table_capacity) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "all %u axes are in use",
                              tracker->options.axis_table_capacity);
    }
    axis = &tracker->axes[axis_id];
  }
  iree_status_free(axis->failure);
  *axis = Axis{};
  axis->semaphore = semaphore;
  return iree_ok_status();
}

void iree_async_frontier_tracker_retire_axis(iree_async_frontier_tracker_t* tracker,
                                             iree_async_axis_t axis, iree_status_t status) {
  tracker->End(axis, status, /*retire=*/true);
}

void iree_async_frontier_tracker_fail_axis(iree_async_frontier_tracker_t* tracker,
                                           iree_async_axis_t axis, iree_status_t status) {
  tracker->End(axis, status, /*retire=*/false);
}

bool iree_async_frontier_tracker_query_epoch(const iree_async_frontier_tracker_t* tracker,
                                             iree_async_axis_t axis, uint64_t epoch) {
  std::shared_lock lock(tracker->mutex);
  auto found = tracker->axes.find(axis);
  return found != tracker->axes.end() && !found->second.retired && found->second.epoch >= epoch;
}

iree_host_size_t iree_async_frontier_tracker_advance(iree_async_frontier_tracker_t* tracker,
                                                     iree_async_axis_t axis_id, uint64_t epoch) {
  Waiter* done = nullptr;
  iree_async_semaphore_t* semaphore = nullptr;
  {
    std::unique_lock lock(tracker->mutex);
    Axis* axis = tracker->Find(axis_id);
    if (!axis || epoch <= axis->epoch)
      return 0;
    axis->epoch = epoch;
    semaphore = axis->semaphore;
    if (tracker->waiters)
      done = tracker->TakeDone();
  }
  if (semaphore)
    iree_status_free(iree_async_semaphore_signal(semaphore, epoch, nullptr));
  return Dispatch(done);
}

iree_status_t iree_async_frontier_tracker_wait(iree_async_frontier_tracker_t* tracker,
                                               const iree_async_frontier_t* frontier,
                                               iree_async_frontier_waiter_fn_t callback,
                                               void* user_data,
                                               iree_async_frontier_waiter_t* waiter) {
  *waiter = {};
  waiter->frontier = frontier;
  waiter->callback = callback;
  waiter->user_data = user_data;
  {
    std::unique_lock lock(tracker->mutex);
    for (uint8_t i = 0; i < frontier->entry_count; ++i) {
      if (!tracker->Find(frontier->entries[i].axis)) {
        return iree_make_status(IREE_STATUS_NOT_FOUND, "axis %016" PRIx64 " is not registered",
                                frontier->entries[i].axis);
      }
    }
    using Outcome = iree_async_frontier_tracker_t::Outcome;
    if (tracker->Check(frontier, &waiter->dispatch_status) == Outcome::kPending) {
      Waiter** link = &tracker->waiters;
      while (*link)
        link = &(*link)->next;
      *link = waiter;
      return iree_ok_status();
    }
  }
  Dispatch(waiter);
  return iree_ok_status();
}

bool iree_async_frontier_tracker_cancel_wait(iree_async_frontier_tracker_t* tracker,
                                             iree_async_frontier_waiter_t* waiter) {
  std::unique_lock lock(tracker->mutex);
  for (Waiter** link = &tracker->waiters; *link; link = &(*link)->next) {
    if (*link != waiter)
      continue;
    *link = waiter->next;
    waiter->next = nullptr;
    return true;
  }
  return false;
}
