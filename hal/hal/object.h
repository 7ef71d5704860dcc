#pragma once

// What every HAL object's entry points share: finding the vtable behind an object.

#include "iree/hal/resource.h"

namespace bessemer::hal {

/// The vtable of `object` as `Vtable`; the object must begin with iree_hal_resource_t.
template <typename Vtable>
const Vtable& vtableOf(const void* object) {
  return *static_cast<const Vtable*>(static_cast<const iree_hal_resource_t*>(object)->vtable);
}

/// Allocates zeroed storage for a `T` with `trailingSize` bytes behind it.
template <typename T>
iree_status_t allocateObject(iree_allocator_t allocator, iree_host_size_t trailingSize, T** out) {
  *out = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_with_trailing(allocator, sizeof(T), trailingSize, &storage));
  *out = static_cast<T*>(storage);
  return iree_ok_status();
}

} // namespace bessemer::hal
