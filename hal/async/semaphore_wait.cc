// Waits for semaphores that block, that call back, and that go by handles of the system.

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include "hal/base/timer_queue.h"
#include "iree/async/semaphore.h"
#include "iree/base/threading/notification.h"

namespace {

using Semaphore = iree_async_semaphore_t;
using Timepoint = iree_async_semaphore_timepoint_t;

// Where a set of semaphores stands, without waiting.
iree_status_code_t Poll(iree_async_wait_mode_t mode, Semaphore** semaphores, const uint64_t* values,
                        iree_host_size_t count) {
  iree_host_size_t reached = 0;
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_status_code_t failure = iree_async_semaphore_query_status(semaphores[i]);
    if (failure != IREE_STATUS_OK)
      return failure;
    auto value = static_cast<uint64_t>(
        iree_atomic_load(&semaphores[i]->timeline_value, iree_memory_order_acquire));
    reached += value >= values[i];
  }
  bool done = mode == IREE_ASYNC_WAIT_MODE_ANY ? reached > 0 : reached == count;
  return done ? IREE_STATUS_OK : IREE_STATUS_DEFERRED;
}

// One blocked wait, shared with the callbacks of its timepoints: whoever is last frees it, as a
// callback that is still running may outlast the waiter.
struct BlockedWait {
  iree_atomic_ref_count_t ref_count;
  // Callbacks still to come before the wait is over.
  iree_atomic_int32_t remaining;
  iree_atomic_int32_t failure;
  iree_notification_t notification;
  iree_allocator_t allocator;
  Timepoint timepoints[];

  void Release() {
    if (iree_atomic_ref_count_dec(&ref_count) != 1)
      return;
    iree_notification_deinitialize(&notification);
    iree_allocator_free(allocator, this);
  }

  bool IsOver() {
    return iree_atomic_load(&remaining, iree_memory_order_acquire) <= 0 ||
           iree_atomic_load(&failure, iree_memory_order_acquire) != IREE_STATUS_OK;
  }

  static void OnTimepoint(void* user_data, Timepoint*, iree_status_t status) {
    auto* wait = static_cast<BlockedWait*>(user_data);
    if (iree_status_code_t code = iree_status_consume_code(status); code != IREE_STATUS_OK) {
      int32_t none = IREE_STATUS_OK;
      iree_atomic_compare_exchange_strong(&wait->failure, &none, static_cast<int32_t>(code),
                                          iree_memory_order_acq_rel, iree_memory_order_relaxed);
    }
    iree_atomic_fetch_sub(&wait->remaining, 1, iree_memory_order_acq_rel);
    if (wait->IsOver())
      iree_notification_post(&wait->notification, IREE_ALL_WAITERS);
    wait->Release();
  }
};

// A wait that calls back, and may time out. Timepoint and timer race; the first to come tells, the
// last frees.
struct AsyncWait {
  Timepoint timepoint = {};
  Semaphore* semaphore = nullptr;
  iree_wait_source_resolve_callback_t callback = nullptr;
  void* user_data = nullptr;
  iree_atomic_int32_t told = 0;
  iree_atomic_ref_count_t ref_count = 1;
  bessemer::hal::TimerId timer = 0;

  void Tell(iree_status_t status) {
    if (iree_atomic_exchange(&told, 1, iree_memory_order_acq_rel)) {
      iree_status_free(status);
    } else {
      callback(user_data, status);
    }
  }

  void Release() {
    if (iree_atomic_ref_count_dec(&ref_count) != 1)
      return;
    iree_async_semaphore_release(semaphore);
    delete this;
  }
};

// A duplicate with which a thread waits for a handle, and the semaphore it signals then.
struct ImportedFence {
  iree_async_primitive_t fence;
  Semaphore* semaphore;
  uint64_t value;

  void Run() {
    pollfd poll_fd = {fence.value.fd, POLLIN, 0};
    int result = 0;
    do {
      result = poll(&poll_fd, 1, /*timeout=*/-1);
    } while (result < 0 && errno == EINTR);
    bool ready = result > 0 && (poll_fd.revents & POLLIN);
    iree_async_primitive_close(&fence);
    if (ready) {
      iree_async_semaphore_fail(semaphore, iree_async_semaphore_signal(semaphore, value, nullptr));
    } else {
      iree_async_semaphore_fail(
          semaphore, iree_make_status(IREE_STATUS_DATA_LOSS, "an imported fence was lost"));
    }
    iree_async_semaphore_release(semaphore);
  }
};

// The writing end of an exported handle.
struct ExportedFence {
  Timepoint timepoint = {};
  Semaphore* semaphore = nullptr;
  int write_fd = -1;

  ~ExportedFence() {
    if (write_fd >= 0)
      close(write_fd);
    iree_async_semaphore_release(semaphore);
  }
};

} // namespace

iree_status_t iree_async_semaphore_multi_wait(iree_async_wait_mode_t wait_mode,
                                              iree_async_semaphore_t** semaphores,
                                              const uint64_t* minimum_values,
                                              iree_host_size_t count, iree_timeout_t timeout,
                                              iree_async_wait_flags_t flags,
                                              iree_allocator_t allocator) {
  if (count == 0)
    return iree_ok_status();
  iree_status_code_t code = Poll(wait_mode, semaphores, minimum_values, count);
  if (code != IREE_STATUS_DEFERRED)
    return iree_status_from_code(code);
  if (iree_timeout_is_immediate(timeout)) {
    return iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
  }
  iree_time_t deadline = iree_timeout_as_deadline_ns(timeout);
  if (flags & IREE_ASYNC_WAIT_FLAG_ACTIVE) {
    while ((code = Poll(wait_mode, semaphores, minimum_values, count)) == IREE_STATUS_DEFERRED) {
      if (deadline != IREE_TIME_INFINITE_FUTURE && iree_time_now() >= deadline) {
        return iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
      }
      if (flags & IREE_ASYNC_WAIT_FLAG_YIELD)
        std::this_thread::yield();
    }
    return iree_status_from_code(code);
  }

  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(allocator, sizeof(BlockedWait), count,
                                                          sizeof(Timepoint), &storage));
  auto* wait = static_cast<BlockedWait*>(storage);
  auto callbacks = static_cast<int32_t>(count);
  iree_atomic_ref_count_init_value(&wait->ref_count, callbacks + 1);
  iree_atomic_store(&wait->remaining, wait_mode == IREE_ASYNC_WAIT_MODE_ANY ? 1 : callbacks,
                    iree_memory_order_relaxed);
  iree_atomic_store(&wait->failure, 0, iree_memory_order_relaxed);
  iree_notification_initialize(&wait->notification);
  wait->allocator = allocator;
  for (iree_host_size_t i = 0; i < count; ++i) {
    wait->timepoints[i].callback = BlockedWait::OnTimepoint;
    wait->timepoints[i].user_data = wait;
    // Cannot fail: there is nothing to allocate.
    iree_status_free(iree_async_semaphore_acquire_timepoint(semaphores[i], minimum_values[i],
                                                            &wait->timepoints[i]));
  }
  bool over = iree_notification_await(
      &wait->notification, +[](void* arg) { return static_cast<BlockedWait*>(arg)->IsOver(); },
      wait, iree_make_deadline(deadline));
  auto failure =
      static_cast<iree_status_code_t>(iree_atomic_load(&wait->failure, iree_memory_order_acquire));
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (iree_async_semaphore_cancel_timepoint(semaphores[i], &wait->timepoints[i])) {
      wait->Release();
    }
  }
  wait->Release();
  if (failure != IREE_STATUS_OK)
    return iree_status_from_code(failure);
  return iree_status_from_code(over ? IREE_STATUS_OK : IREE_STATUS_DEADLINE_EXCEEDED);
}

iree_status_t iree_async_semaphore_resolve(iree_async_semaphore_t* semaphore,
                                           uint64_t minimum_value, iree_timeout_t timeout,
                                           iree_wait_source_resolve_callback_t callback,
                                           void* user_data) {
  if (!callback) {
    return iree_async_semaphore_multi_wait(IREE_ASYNC_WAIT_MODE_ALL, &semaphore, &minimum_value, 1,
                                           timeout, IREE_ASYNC_WAIT_FLAG_NONE,
                                           iree_allocator_system());
  }
  auto* wait = new AsyncWait;
  wait->semaphore = semaphore;
  iree_async_semaphore_retain(semaphore);
  wait->callback = callback;
  wait->user_data = user_data;
  iree_time_t deadline = iree_timeout_as_deadline_ns(timeout);
  if (deadline != IREE_TIME_INFINITE_FUTURE) {
    iree_atomic_ref_count_inc(&wait->ref_count);
    iree_atomic_ref_count_inc(&wait->ref_count);
    wait->timer = bessemer::hal::ScheduleTimer(
        deadline,
        +[](void* user_data) {
          auto* wait = static_cast<AsyncWait*>(user_data);
          if (iree_async_semaphore_cancel_timepoint(wait->semaphore, &wait->timepoint)) {
            wait->Tell(iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED));
            wait->Release();
          }
          wait->Release();
        },
        wait);
  }
  wait->timepoint.user_data = wait;
  wait->timepoint.callback = +[](void* user_data, Timepoint*, iree_status_t status) {
    auto* wait = static_cast<AsyncWait*>(user_data);
    wait->Tell(status);
    if (wait->timer && bessemer::hal::CancelTimer(wait->timer))
      wait->Release();
    wait->Release();
  };
  bool has_timer = wait->timer != 0;
  iree_status_t status =
      iree_async_semaphore_acquire_timepoint(semaphore, minimum_value, &wait->timepoint);
  if (has_timer) {
    // A timer that fired before the timepoint was there found nothing to cancel.
    if (iree_absolute_deadline_to_timeout_ns(deadline) == 0 &&
        iree_async_semaphore_cancel_timepoint(semaphore, &wait->timepoint)) {
      wait->Tell(iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED));
      if (bessemer::hal::CancelTimer(wait->timer))
        wait->Release();
      wait->Release();
    }
    wait->Release();
  }
  return status;
}

iree_status_t iree_async_semaphore_import_fence(iree_async_proactor_t*,
                                                iree_async_primitive_t fence,
                                                iree_async_semaphore_t* semaphore,
                                                uint64_t signal_value) {
  if (iree_async_primitive_is_none(fence)) {
    return iree_async_semaphore_signal(semaphore, signal_value, nullptr);
  }
  if (fence.type != IREE_ASYNC_PRIMITIVE_TYPE_FD) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "handles of type %u cannot be waited for",
                            fence.type);
  }
  iree_async_semaphore_retain(semaphore);
  // Handles that cross from other systems are rare: a thread each keeps all else free of polling.
  std::thread([imported = ImportedFence{fence, semaphore, signal_value}]() mutable {
    imported.Run();
  }).detach();
  return iree_ok_status();
}

iree_status_t iree_async_semaphore_export_fence(iree_async_proactor_t*,
                                                iree_async_semaphore_t* semaphore,
                                                uint64_t wait_value,
                                                iree_async_primitive_t* out_fence) {
  *out_fence = iree_async_primitive_none();
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "cannot make a pipe");
  }
  for (int fd : ends)
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  auto fence = std::make_unique<ExportedFence>();
  fence->semaphore = semaphore;
  iree_async_semaphore_retain(semaphore);
  fence->write_fd = ends[1];
  fence->timepoint.user_data = fence.get();
  fence->timepoint.callback = +[](void* user_data, Timepoint*, iree_status_t status) {
    std::unique_ptr<ExportedFence> fence(static_cast<ExportedFence*>(user_data));
    // Closing the writing end would make the handle ready as well; the byte tells a poll for input.
    char byte = iree_status_is_ok(status);
    [[maybe_unused]] ssize_t written = write(fence->write_fd, &byte, 1);
    iree_status_free(status);
  };
  *out_fence = iree_async_primitive_from_fd(ends[0]);
  return iree_async_semaphore_acquire_timepoint(semaphore, wait_value, &fence.release()->timepoint);
}
