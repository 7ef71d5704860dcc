// A singly linked list that threads push to and pop from.

#ifndef IREE_BASE_INTERNAL_ATOMIC_SLIST_H_
#define IREE_BASE_INTERNAL_ATOMIC_SLIST_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iree/base/alignment.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"

#ifdef __cplusplus
extern "C" {
#endif

// A type that stands in an entry struct for its link.
typedef void* iree_atomic_slist_intrusive_ptr_t;

typedef struct iree_atomic_slist_entry_t {
  struct iree_atomic_slist_entry_t* next;
} iree_atomic_slist_entry_t;

// Last in, first out. The lock is held for a few instructions.
typedef struct iree_atomic_slist_t {
  iree_slim_mutex_t mutex;
  iree_atomic_slist_entry_t* head IREE_GUARDED_BY(mutex);
} iree_atomic_slist_t;

void iree_atomic_slist_initialize(iree_atomic_slist_t* out_list);
void iree_atomic_slist_deinitialize(iree_atomic_slist_t* list);
// Puts a chain, linked from `head` to `tail`, before all entries.
void iree_atomic_slist_concat(iree_atomic_slist_t* list, iree_atomic_slist_entry_t* head,
                              iree_atomic_slist_entry_t* tail);
void iree_atomic_slist_push(iree_atomic_slist_t* list, iree_atomic_slist_entry_t* entry);
// For a list that no other thread can reach.
void iree_atomic_slist_push_unsafe(iree_atomic_slist_t* list, iree_atomic_slist_entry_t* entry);
// Forgets all entries.
void iree_atomic_slist_discard(iree_atomic_slist_t* list);
// NULL when empty.
iree_atomic_slist_entry_t* iree_atomic_slist_pop(iree_atomic_slist_t* list);

typedef enum iree_atomic_slist_flush_order_e {
  IREE_ATOMIC_SLIST_FLUSH_ORDER_APPROXIMATE_LIFO = 0,
  IREE_ATOMIC_SLIST_FLUSH_ORDER_APPROXIMATE_FIFO,
} iree_atomic_slist_flush_order_t;

// Takes all entries; false when there were none. `out_tail` may be NULL.
bool iree_atomic_slist_flush(iree_atomic_slist_t* list, iree_atomic_slist_flush_order_t flush_order,
                             iree_atomic_slist_entry_t** out_head,
                             iree_atomic_slist_entry_t** out_tail);

// Defines name_slist_t over `type`, whose link is at `next_offset`, with functions of the same
// names.
#define IREE_TYPED_ATOMIC_SLIST_WRAPPER(name, type, next_offset)                                   \
  typedef struct name##_slist_t {                                                                  \
    iree_atomic_slist_t impl;                                                                      \
  } name##_slist_t;                                                                                \
  static inline iree_atomic_slist_entry_t* name##_slist_entry_from_ptr(type* entry) {              \
    return entry ? (iree_atomic_slist_entry_t*)(void*)((uint8_t*)entry + (next_offset)) : NULL;    \
  }                                                                                                \
  static inline type* name##_slist_entry_to_ptr(iree_atomic_slist_entry_t* entry) {                \
    return entry ? (type*)(void*)((uint8_t*)entry - (next_offset)) : NULL;                         \
  }                                                                                                \
  static inline type* name##_slist_get_next(type* entry) {                                         \
    return entry ? name##_slist_entry_to_ptr(name##_slist_entry_from_ptr(entry)->next) : NULL;     \
  }                                                                                                \
  static inline void name##_slist_set_next(type* entry, type* next) {                              \
    name##_slist_entry_from_ptr(entry)->next = name##_slist_entry_from_ptr(next);                  \
  }                                                                                                \
  static inline void name##_slist_initialize(name##_slist_t* out_list) {                           \
    iree_atomic_slist_initialize(&out_list->impl);                                                 \
  }                                                                                                \
  static inline void name##_slist_deinitialize(name##_slist_t* list) {                             \
    iree_atomic_slist_deinitialize(&list->impl);                                                   \
  }                                                                                                \
  static inline void name##_slist_push(name##_slist_t* list, type* entry) {                        \
    iree_atomic_slist_push(&list->impl, name##_slist_entry_from_ptr(entry));                       \
  }                                                                                                \
  IREE_ATTRIBUTE_UNUSED static inline void name##_slist_push_unsafe(name##_slist_t* list,          \
                                                                    type* entry) {                 \
    iree_atomic_slist_push_unsafe(&list->impl, name##_slist_entry_from_ptr(entry));                \
  }                                                                                                \
  static inline void name##_slist_concat(name##_slist_t* list, type* head, type* tail) {           \
    iree_atomic_slist_concat(&list->impl, name##_slist_entry_from_ptr(head),                       \
                             name##_slist_entry_from_ptr(tail));                                   \
  }                                                                                                \
  static inline void name##_slist_discard(name##_slist_t* list) {                                  \
    iree_atomic_slist_discard(&list->impl);                                                        \
  }                                                                                                \
  static inline type* name##_slist_pop(name##_slist_t* list) {                                     \
    return name##_slist_entry_to_ptr(iree_atomic_slist_pop(&list->impl));                          \
  }                                                                                                \
  static inline bool name##_slist_flush(name##_slist_t* list,                                      \
                                        iree_atomic_slist_flush_order_t flush_order,               \
                                        type** out_head, type** out_tail) {                        \
    iree_atomic_slist_entry_t* head = NULL;                                                        \
    iree_atomic_slist_entry_t* tail = NULL;                                                        \
    if (!iree_atomic_slist_flush(&list->impl, flush_order, &head, &tail))                          \
      return false;                                                                                \
    *out_head = name##_slist_entry_to_ptr(head);                                                   \
    if (out_tail)                                                                                  \
      *out_tail = name##_slist_entry_to_ptr(tail);                                                 \
    return true;                                                                                   \
  }

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_INTERNAL_ATOMIC_SLIST_H_
