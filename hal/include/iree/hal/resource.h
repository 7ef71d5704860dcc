#ifndef IREE_HAL_RESOURCE_H_
#define IREE_HAL_RESOURCE_H_

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What every HAL object begins with, so that any of them can be counted and told apart.
typedef struct iree_hal_resource_t {
  iree_atomic_ref_count_t ref_count;
  const void* vtable;
} iree_hal_resource_t;

/// The slot that every vtable begins with.
typedef struct iree_hal_resource_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_resource_t* resource);
} iree_hal_resource_vtable_t;

/// Checks at compile time that `vtable_type` begins as iree_hal_resource_vtable_t does.
#define IREE_HAL_ASSERT_VTABLE_LAYOUT(vtable_type)                                                 \
  static_assert(offsetof(vtable_type, destroy) == 0, "the first slot of every vtable destroys");

/// Starts an object with one reference.
static inline void iree_hal_resource_initialize(const void* vtable,
                                                iree_hal_resource_t* out_resource) {
  iree_atomic_ref_count_init(&out_resource->ref_count);
  out_resource->vtable = vtable;
}

/// Adds a reference to any HAL object; null does nothing.
static inline void iree_hal_resource_retain(const void* any_resource) {
  iree_hal_resource_t* resource = (iree_hal_resource_t*)any_resource;
  if (resource) {
    iree_atomic_ref_count_inc(&resource->ref_count);
  }
}

// Vtables name their own object type in the first slot, so the call below goes through a function
// type that differs in its parameter's pointer type.
#if defined(__clang__)
#define IREE_HAL_RESOURCE_CALLS_ANY_TYPE __attribute__((no_sanitize("function")))
#else
#define IREE_HAL_RESOURCE_CALLS_ANY_TYPE
#endif

/// Drops a reference to any HAL object; the last one destroys it. Null does nothing.
IREE_HAL_RESOURCE_CALLS_ANY_TYPE static inline void
iree_hal_resource_release(const void* any_resource) {
  iree_hal_resource_t* resource = (iree_hal_resource_t*)any_resource;
  if (resource && iree_atomic_ref_count_dec(&resource->ref_count) == 1) {
    ((const iree_hal_resource_vtable_t*)resource->vtable)->destroy(resource);
  }
}

/// Whether `resource` is an object of the type that `vtable` belongs to.
static inline bool iree_hal_resource_is(const void* resource, const void* vtable) {
  return resource && ((const iree_hal_resource_t*)resource)->vtable == vtable;
}

/// Checks, where assertions are on, that `resource` is of the type that `vtable` belongs to.
#define IREE_HAL_ASSERT_TYPE(resource, vtable)                                                     \
  IREE_ASSERT_TRUE(iree_hal_resource_is(resource, vtable), "object is not of the type "            \
                                                           "of " #vtable)

#ifdef __cplusplus
}
#endif
#endif
