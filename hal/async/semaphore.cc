#include "iree/async/semaphore.h"

#include <utility>

namespace {

using Semaphore = iree_async_semaphore_t;
using Timepoint = iree_async_semaphore_timepoint_t;

iree_status_t FailureOf(Semaphore* semaphore) {
  return reinterpret_cast<iree_status_t>(
      iree_atomic_load(&semaphore->failure_status, iree_memory_order_acquire));
}

uint64_t ValueOf(Semaphore* semaphore) {
  return static_cast<uint64_t>(
      iree_atomic_load(&semaphore->timeline_value, iree_memory_order_acquire));
}

// Pending timepoints are sorted by value, equal ones as they came, so that a signal looks at no
// more than it ends. The first one's `prev` is the last one.

void Link(Semaphore* semaphore, Timepoint* timepoint) {
  timepoint->semaphore = semaphore;
  timepoint->next = nullptr;
  Timepoint* head = semaphore->timepoints_head;
  if (!head) {
    timepoint->prev = timepoint;
    semaphore->timepoints_head = timepoint;
    return;
  }
  // Later waits are mostly for greater values.
  Timepoint* before = head->prev;
  while (before->minimum_value > timepoint->minimum_value) {
    if (before == head) {
      timepoint->next = head;
      timepoint->prev = head->prev;
      head->prev = timepoint;
      semaphore->timepoints_head = timepoint;
      return;
    }
    before = before->prev;
  }
  timepoint->prev = before;
  timepoint->next = before->next;
  (before->next ? before->next : head)->prev = timepoint;
  before->next = timepoint;
}

// A timepoint without a semaphore is in no list.
void Unlink(Semaphore* semaphore, Timepoint* timepoint) {
  if (timepoint == semaphore->timepoints_head) {
    semaphore->timepoints_head = timepoint->next;
    if (timepoint->next)
      timepoint->next->prev = timepoint->prev;
  } else {
    timepoint->prev->next = timepoint->next;
    (timepoint->next ? timepoint->next : semaphore->timepoints_head)->prev = timepoint->prev;
  }
  timepoint->next = timepoint->prev = nullptr;
  timepoint->semaphore = nullptr;
}

// Takes out all timepoints up to `value`, linked by `next`.
Timepoint* TakeUpTo(Semaphore* semaphore, uint64_t value) {
  Timepoint* taken = nullptr;
  Timepoint** tail = &taken;
  while (semaphore->timepoints_head && semaphore->timepoints_head->minimum_value <= value) {
    Timepoint* timepoint = semaphore->timepoints_head;
    Unlink(semaphore, timepoint);
    *tail = timepoint;
    tail = &timepoint->next;
  }
  return taken;
}

// Runs callbacks; takes the status.
void Dispatch(Timepoint* timepoint, iree_status_t status) {
  while (timepoint) {
    // The storage is the caller's again once the callback starts.
    Timepoint* next = timepoint->next;
    timepoint->next = nullptr;
    timepoint->callback(timepoint->user_data, timepoint,
                        next ? iree_status_clone(status) : std::exchange(status, nullptr));
    timepoint = next;
  }
  iree_status_free(status);
}

iree_status_t NotGreater(uint64_t current, uint64_t value) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "semaphore values only grow: at %" PRIu64 ", signaled with %" PRIu64,
                          current, value);
}

void DestroyHostSemaphore(Semaphore* semaphore) {
  iree_allocator_t allocator = semaphore->allocator;
  iree_async_semaphore_deinitialize(semaphore);
  iree_allocator_free(allocator, semaphore);
}

iree_status_t SignalHostSemaphore(Semaphore* semaphore, uint64_t value,
                                  const iree_async_frontier_t* frontier) {
  IREE_RETURN_IF_ERROR(iree_async_semaphore_advance_timeline(semaphore, value, frontier));
  iree_async_semaphore_dispatch_timepoints(semaphore, value);
  return iree_ok_status();
}

constexpr iree_async_semaphore_vtable_t kHostSemaphoreVtable = {
    DestroyHostSemaphore,
    ValueOf,
    SignalHostSemaphore,
    /*on_fail=*/nullptr,
};

} // namespace

void iree_async_semaphore_initialize(const iree_async_semaphore_vtable_t* vtable,
                                     iree_async_proactor_t* proactor, uint64_t initial_value,
                                     iree_host_size_t frontier_offset, uint8_t frontier_capacity,
                                     iree_async_semaphore_t* out_semaphore) {
  iree_atomic_ref_count_init(&out_semaphore->ref_count);
  out_semaphore->vtable = vtable;
  out_semaphore->allocator = iree_allocator_null();
  out_semaphore->proactor = proactor;
  auto initial = static_cast<int64_t>(initial_value);
  iree_atomic_store(&out_semaphore->timeline_value, initial, iree_memory_order_relaxed);
  iree_atomic_store(&out_semaphore->last_untainted_value, initial, iree_memory_order_relaxed);
  iree_slim_mutex_initialize(&out_semaphore->mutex);
  iree_atomic_store(&out_semaphore->failure_status, 0, iree_memory_order_relaxed);
  out_semaphore->timepoints_head = nullptr;
  out_semaphore->frontier_capacity = frontier_capacity;
  out_semaphore->frontier = nullptr;
  if (frontier_capacity) {
    out_semaphore->frontier = reinterpret_cast<iree_async_frontier_t*>(
        reinterpret_cast<uint8_t*>(out_semaphore) + frontier_offset);
    iree_async_frontier_initialize(out_semaphore->frontier, 0);
  }
}

void iree_async_semaphore_deinitialize(iree_async_semaphore_t* semaphore) {
  if (semaphore->timepoints_head) {
    iree_async_semaphore_dispatch_timepoints_failed(
        semaphore, iree_make_status(IREE_STATUS_CANCELLED, "the semaphore was released"));
  }
  iree_status_free(FailureOf(semaphore));
  iree_slim_mutex_deinitialize(&semaphore->mutex);
}

void iree_async_semaphore_retain(iree_async_semaphore_t* semaphore) {
  if (semaphore)
    iree_atomic_ref_count_inc(&semaphore->ref_count);
}

void iree_async_semaphore_release(iree_async_semaphore_t* semaphore) {
  if (semaphore && iree_atomic_ref_count_dec(&semaphore->ref_count) == 1) {
    semaphore->vtable->destroy(semaphore);
  }
}

iree_status_t iree_async_semaphore_create(iree_async_proactor_t* proactor, uint64_t initial_value,
                                          uint8_t frontier_capacity, iree_allocator_t allocator,
                                          iree_async_semaphore_t** out_semaphore) {
  *out_semaphore = nullptr;
  iree_host_size_t frontier_offset = 0, total_size = 0;
  IREE_RETURN_IF_ERROR(iree_async_semaphore_layout(sizeof(Semaphore), frontier_capacity,
                                                   &frontier_offset, &total_size));
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, total_size, &storage));
  auto* semaphore = static_cast<Semaphore*>(storage);
  iree_async_semaphore_initialize(&kHostSemaphoreVtable, proactor, initial_value, frontier_offset,
                                  frontier_capacity, semaphore);
  semaphore->allocator = allocator;
  *out_semaphore = semaphore;
  return iree_ok_status();
}

iree_status_t iree_async_semaphore_advance_timeline(iree_async_semaphore_t* semaphore,
                                                    uint64_t value,
                                                    const iree_async_frontier_t* frontier) {
  iree_slim_mutex_lock(&semaphore->mutex);
  iree_status_t failure = FailureOf(semaphore);
  uint64_t current = ValueOf(semaphore);
  bool advances = iree_status_is_ok(failure) && value > current;
  if (advances) {
    iree_atomic_store(&semaphore->timeline_value, static_cast<int64_t>(value),
                      iree_memory_order_release);
    // What does not fit leaves the value without a full history, which is what untainted tells.
    if (frontier && semaphore->frontier) {
      iree_async_frontier_merge(semaphore->frontier, semaphore->frontier_capacity, frontier);
    }
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  if (advances)
    return iree_ok_status();
  return iree_status_is_ok(failure) ? NotGreater(current, value) : iree_status_clone(failure);
}

void iree_async_semaphore_dispatch_timepoints(iree_async_semaphore_t* semaphore, uint64_t value) {
  iree_slim_mutex_lock(&semaphore->mutex);
  Timepoint* reached = TakeUpTo(semaphore, value);
  iree_slim_mutex_unlock(&semaphore->mutex);
  Dispatch(reached, iree_ok_status());
}

void iree_async_semaphore_dispatch_timepoints_failed(iree_async_semaphore_t* semaphore,
                                                     iree_status_t status) {
  iree_slim_mutex_lock(&semaphore->mutex);
  Timepoint* all = TakeUpTo(semaphore, UINT64_MAX);
  iree_slim_mutex_unlock(&semaphore->mutex);
  Dispatch(all, status);
}

void iree_async_semaphore_fail(iree_async_semaphore_t* semaphore, iree_status_t status) {
  if (iree_status_is_ok(status))
    return;
  iree_status_code_t code = iree_status_code(status);
  iree_slim_mutex_lock(&semaphore->mutex);
  bool is_first = iree_status_is_ok(FailureOf(semaphore));
  Timepoint* all = nullptr;
  iree_status_t told = iree_ok_status();
  if (is_first) {
    // Cloned before it is published: from then on it is the semaphore's.
    if (semaphore->timepoints_head)
      told = iree_status_clone(status);
    iree_atomic_store(&semaphore->failure_status, reinterpret_cast<intptr_t>(status),
                      iree_memory_order_release);
    all = TakeUpTo(semaphore, UINT64_MAX);
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  if (!is_first) {
    iree_status_free(status);
    return;
  }
  Dispatch(all, told);
  if (semaphore->vtable->on_fail)
    semaphore->vtable->on_fail(semaphore, code);
}

uint8_t iree_async_semaphore_query_frontier(iree_async_semaphore_t* semaphore,
                                            iree_async_frontier_t* out_frontier, uint8_t capacity) {
  iree_slim_mutex_lock(&semaphore->mutex);
  uint8_t total = semaphore->frontier ? semaphore->frontier->entry_count : 0;
  uint8_t copied = iree_min(total, capacity);
  if (out_frontier) {
    iree_async_frontier_initialize(out_frontier, copied);
    for (uint8_t i = 0; i < copied; ++i) {
      out_frontier->entries[i] = semaphore->frontier->entries[i];
    }
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  return total;
}

iree_status_t iree_async_semaphore_acquire_timepoint(iree_async_semaphore_t* semaphore,
                                                     uint64_t minimum_value,
                                                     iree_async_semaphore_timepoint_t* timepoint) {
  iree_slim_mutex_lock(&semaphore->mutex);
  timepoint->next = timepoint->prev = nullptr;
  timepoint->semaphore = nullptr;
  timepoint->minimum_value = minimum_value;
  iree_status_t failure = FailureOf(semaphore);
  bool pending = iree_status_is_ok(failure) && ValueOf(semaphore) < minimum_value;
  if (pending) {
    Link(semaphore, timepoint);
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  if (!pending)
    Dispatch(timepoint, iree_status_clone(failure));
  return iree_ok_status();
}

bool iree_async_semaphore_cancel_timepoint(iree_async_semaphore_t* semaphore,
                                           iree_async_semaphore_timepoint_t* timepoint) {
  iree_slim_mutex_lock(&semaphore->mutex);
  bool found = timepoint->semaphore == semaphore;
  if (found)
    Unlink(semaphore, timepoint);
  iree_slim_mutex_unlock(&semaphore->mutex);
  return found;
}

iree_status_t iree_async_semaphore_link(iree_async_semaphore_t* source, uint64_t source_value,
                                        iree_async_semaphore_t* target, uint64_t target_value,
                                        iree_async_semaphore_link_t* out_link) {
  *out_link = {};
  out_link->target = target;
  out_link->signal_value = target_value;
  out_link->timepoint.user_data = out_link;
  out_link->timepoint.callback = +[](void* user_data, Timepoint*, iree_status_t status) {
    auto* link = static_cast<iree_async_semaphore_link_t*>(user_data);
    // The storage may go as soon as the target moves.
    Semaphore* target = link->target;
    if (iree_status_is_ok(status)) {
      status = iree_async_semaphore_signal(target, link->signal_value, nullptr);
      // Someone else may have carried the target further already.
      if (iree_status_is_invalid_argument(status))
        status = iree_status_ignore(status);
    }
    iree_async_semaphore_fail(target, status);
  };
  return iree_async_semaphore_acquire_timepoint(source, source_value, &out_link->timepoint);
}

bool iree_async_semaphore_unlink(iree_async_semaphore_link_t* link) {
  Semaphore* source = link->timepoint.semaphore;
  return source && iree_async_semaphore_cancel_timepoint(source, &link->timepoint);
}

bool iree_async_semaphore_is_value_tainted(iree_async_semaphore_t* semaphore, uint64_t value) {
  return value > iree_async_semaphore_query_untainted_value(semaphore);
}

void iree_async_semaphore_mark_tainted_above(iree_async_semaphore_t* semaphore,
                                             uint64_t threshold) {
  auto limit = static_cast<int64_t>(threshold);
  iree_slim_mutex_lock(&semaphore->mutex);
  if (iree_atomic_load(&semaphore->last_untainted_value, iree_memory_order_relaxed) > limit) {
    iree_atomic_store(&semaphore->last_untainted_value, limit, iree_memory_order_release);
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
}

iree_status_t iree_async_semaphore_signal_untainted(iree_async_semaphore_t* semaphore,
                                                    uint64_t value,
                                                    const iree_async_frontier_t* frontier) {
  IREE_RETURN_IF_ERROR(iree_async_semaphore_publish_untainted(semaphore, value, frontier));
  return iree_async_semaphore_signal(semaphore, value, frontier);
}

iree_status_t iree_async_semaphore_publish_untainted(iree_async_semaphore_t* semaphore,
                                                     uint64_t value,
                                                     const iree_async_frontier_t* frontier) {
  iree_slim_mutex_lock(&semaphore->mutex);
  bool complete = !frontier || (semaphore->frontier &&
                                iree_async_frontier_merge(semaphore->frontier,
                                                          semaphore->frontier_capacity, frontier));
  auto untainted = static_cast<int64_t>(value);
  if (complete &&
      iree_atomic_load(&semaphore->last_untainted_value, iree_memory_order_relaxed) < untainted) {
    iree_atomic_store(&semaphore->last_untainted_value, untainted, iree_memory_order_release);
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  return iree_ok_status();
}

bool iree_async_semaphore_merge_frontier(iree_async_semaphore_t* semaphore,
                                         const iree_async_frontier_t* frontier) {
  iree_slim_mutex_lock(&semaphore->mutex);
  bool merged =
      semaphore->frontier &&
      iree_async_frontier_merge(semaphore->frontier, semaphore->frontier_capacity, frontier);
  iree_slim_mutex_unlock(&semaphore->mutex);
  return merged;
}

uint64_t iree_async_semaphore_query_untainted_value(iree_async_semaphore_t* semaphore) {
  return static_cast<uint64_t>(
      iree_atomic_load(&semaphore->last_untainted_value, iree_memory_order_acquire));
}
