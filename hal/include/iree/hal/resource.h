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

typedef struct iree_hal_resource_t {
  iree_atomic_ref_count_t ref_count;
  const void* vtable;
} iree_hal_resource_t;

typedef struct iree_hal_resource_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_resource_t* resource);
} iree_hal_resource_vtable_t;

#define IREE_HAL_ASSERT_VTABLE_LAYOUT(vtable_type)                                                 \
  static_assert(offsetof(vtable_type, destroy) == 0, "the first slot of every vtable destroys");

static inline void iree_hal_resource_initialize(const void* vtable,
                                                iree_hal_resource_t* out_resource) {
  iree_atomic_ref_count_init(&out_resource->ref_count);
  out_resource->vtable = vtable;
}

static inline void iree_hal_resource_retain(const void* any_resource) {
  iree_hal_resource_t* resource = (iree_hal_resource_t*)any_resource;
  if (resource) {
    iree_atomic_ref_count_inc(&resource->ref_count);
  }
}

static inline void iree_hal_resource_release(const void* any_resource) {
  iree_hal_resource_t* resource = (iree_hal_resource_t*)any_resource;
  if (resource && iree_atomic_ref_count_dec(&resource->ref_count) == 1) {
    ((const iree_hal_resource_vtable_t*)resource->vtable)->destroy(resource);
  }
}

static inline bool iree_hal_resource_is(const void* resource, const void* vtable) {
  return resource && ((const iree_hal_resource_t*)resource)->vtable == vtable;
}

#define IREE_HAL_ASSERT_TYPE(resource, vtable)                                                     \
  IREE_ASSERT_TRUE(iree_hal_resource_is(resource, vtable), "object is not of the type "            \
                                                           "of " #vtable)

#ifdef __cplusplus
}
#endif
#endif
