#include "iree/base/internal/atomic_slist.h"

void iree_atomic_slist_initialize(iree_atomic_slist_t* out_list) {
  out_list->head = nullptr;
  iree_slim_mutex_initialize(&out_list->mutex);
}

void iree_atomic_slist_deinitialize(iree_atomic_slist_t* list) {
  iree_slim_mutex_deinitialize(&list->mutex);
}

void iree_atomic_slist_concat(iree_atomic_slist_t* list, iree_atomic_slist_entry_t* head,
                              iree_atomic_slist_entry_t* tail) {
  if (!head)
    return;
  iree_slim_mutex_lock(&list->mutex);
  tail->next = list->head;
  list->head = head;
  iree_slim_mutex_unlock(&list->mutex);
}

void iree_atomic_slist_push(iree_atomic_slist_t* list, iree_atomic_slist_entry_t* entry) {
  iree_atomic_slist_concat(list, entry, entry);
}

void iree_atomic_slist_push_unsafe(iree_atomic_slist_t* list, iree_atomic_slist_entry_t* entry) {
  entry->next = list->head;
  list->head = entry;
}

void iree_atomic_slist_discard(iree_atomic_slist_t* list) {
  iree_slim_mutex_lock(&list->mutex);
  list->head = nullptr;
  iree_slim_mutex_unlock(&list->mutex);
}

iree_atomic_slist_entry_t* iree_atomic_slist_pop(iree_atomic_slist_t* list) {
  iree_slim_mutex_lock(&list->mutex);
  iree_atomic_slist_entry_t* entry = list->head;
  if (entry)
    list->head = entry->next;
  iree_slim_mutex_unlock(&list->mutex);
  if (entry)
    entry->next = nullptr;
  return entry;
}

bool iree_atomic_slist_flush(iree_atomic_slist_t* list, iree_atomic_slist_flush_order_t flush_order,
                             iree_atomic_slist_entry_t** out_head,
                             iree_atomic_slist_entry_t** out_tail) {
  iree_slim_mutex_lock(&list->mutex);
  iree_atomic_slist_entry_t* head = list->head;
  list->head = nullptr;
  iree_slim_mutex_unlock(&list->mutex);
  *out_head = head;
  if (out_tail)
    *out_tail = nullptr;
  if (!head)
    return false;
  if (flush_order == IREE_ATOMIC_SLIST_FLUSH_ORDER_APPROXIMATE_FIFO) {
    if (out_tail)
      *out_tail = head;
    iree_atomic_slist_entry_t* reversed = nullptr;
    while (head) {
      iree_atomic_slist_entry_t* next = head->next;
      head->next = reversed;
      reversed = head;
      head = next;
    }
    *out_head = reversed;
  } else if (out_tail) {
    while (head->next)
      head = head->next;
    *out_tail = head;
  }
  return true;
}
