#include "iree/async/notification.h"

#include <mutex>

using Listener = iree_async_notification_listener_t;

struct iree_async_notification_t {
  iree_atomic_ref_count_t ref_count;
  iree_notification_t waiters;
  iree_atomic_uint32_t epoch;
  iree_atomic_int32_t observers;
  std::mutex mutex;
  Listener* listeners = nullptr;
};

iree_status_t iree_async_notification_create(iree_async_proactor_t*,
                                             iree_async_notification_flags_t flags,
                                             iree_async_notification_t** out_notification) {
  *out_notification = nullptr;
  if (flags & IREE_ASYNC_NOTIFICATION_FLAG_SHARED) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "notifications between processes");
  }
  auto* notification = new iree_async_notification_t;
  iree_atomic_ref_count_init(&notification->ref_count);
  iree_notification_initialize(&notification->waiters);
  iree_atomic_store(&notification->epoch, 0u, iree_memory_order_relaxed);
  iree_atomic_store(&notification->observers, 0, iree_memory_order_relaxed);
  *out_notification = notification;
  return iree_ok_status();
}

void iree_async_notification_retain(iree_async_notification_t* notification) {
  if (notification)
    iree_atomic_ref_count_inc(&notification->ref_count);
}

void iree_async_notification_release(iree_async_notification_t* notification) {
  if (!notification || iree_atomic_ref_count_dec(&notification->ref_count) != 1)
    return;
  iree_notification_deinitialize(&notification->waiters);
  delete notification;
}

void iree_async_notification_signal(iree_async_notification_t* notification, int32_t wake_count) {
  Listener* listeners = nullptr;
  {
    // The epoch moves under the lock, so that no listener is added for one that has passed.
    std::lock_guard lock(notification->mutex);
    iree_atomic_fetch_add(&notification->epoch, 1u, iree_memory_order_seq_cst);
    listeners = notification->listeners;
    notification->listeners = nullptr;
    for (Listener* each = listeners; each; each = each->next)
      each->prev = each;
  }
  iree_notification_post(&notification->waiters, wake_count);
  while (listeners) {
    Listener* next = listeners->next;
    listeners->fn(listeners->user_data);
    listeners = next;
  }
}

bool iree_async_notification_signal_if_observed(iree_async_notification_t* notification,
                                                int32_t wake_count) {
  // Pairs with the increment of an observer, which comes before the check that it announces.
  iree_atomic_thread_fence(iree_memory_order_seq_cst);
  bool observed = iree_atomic_load(&notification->observers, iree_memory_order_seq_cst) != 0;
  if (!observed) {
    std::lock_guard lock(notification->mutex);
    observed = notification->listeners != nullptr;
  }
  if (observed)
    iree_async_notification_signal(notification, wake_count);
  return observed;
}

uint32_t iree_async_notification_query_epoch(iree_async_notification_t* notification) {
  return iree_atomic_load(&notification->epoch, iree_memory_order_acquire);
}

uint32_t iree_async_notification_begin_observe(iree_async_notification_t* notification) {
  iree_atomic_fetch_add(&notification->observers, 1, iree_memory_order_seq_cst);
  return iree_atomic_load(&notification->epoch, iree_memory_order_seq_cst);
}

void iree_async_notification_end_observe(iree_async_notification_t* notification) {
  iree_atomic_fetch_sub(&notification->observers, 1, iree_memory_order_seq_cst);
}

bool iree_async_notification_wait(iree_async_notification_t* notification, iree_timeout_t timeout) {
  uint32_t token = iree_async_notification_begin_observe(notification);
  bool signaled = iree_async_notification_wait_for_token(notification, token, timeout);
  iree_async_notification_end_observe(notification);
  return signaled;
}

bool iree_async_notification_wait_for_token(iree_async_notification_t* notification,
                                            uint32_t wait_token, iree_timeout_t timeout) {
  struct Condition {
    iree_async_notification_t* notification;
    uint32_t token;
  } condition = {notification, wait_token};
  return iree_notification_await(
      &notification->waiters,
      +[](void* arg) {
        auto* condition = static_cast<Condition*>(arg);
        return iree_async_notification_query_epoch(condition->notification) != condition->token;
      },
      &condition, timeout);
}

bool iree_async_notification_add_listener(iree_async_notification_t* notification,
                                          uint32_t wait_token,
                                          iree_async_notification_listener_t* listener) {
  std::lock_guard lock(notification->mutex);
  if (iree_async_notification_query_epoch(notification) != wait_token)
    return false;
  listener->prev = nullptr;
  listener->next = notification->listeners;
  if (listener->next)
    listener->next->prev = listener;
  notification->listeners = listener;
  return true;
}

bool iree_async_notification_remove_listener(iree_async_notification_t* notification,
                                             iree_async_notification_listener_t* listener) {
  std::lock_guard lock(notification->mutex);
  // One that was taken out to be called points at itself.
  if (listener->prev == listener)
    return false;
  if (listener->next)
    listener->next->prev = listener->prev;
  (listener->prev ? listener->prev->next : notification->listeners) = listener->next;
  return true;
}
