// Pools by priority; requests go to the first that can serve them.

#include "iree/hal/pool_set.h"

#include <algorithm>
#include <span>

struct iree_hal_pool_set_entry_t {
  int32_t priority;
  /// Retained.
  iree_hal_pool_t* pool;
};

namespace {

bool serves(const iree_hal_pool_t* pool, const iree_hal_buffer_params_t& params,
            iree_device_size_t size) {
  iree_hal_pool_capabilities_t capabilities;
  iree_hal_pool_query_capabilities(pool, &capabilities);
  const iree_hal_memory_type_t type = params.type & ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
  const bool fits =
      size >= capabilities.min_allocation_size &&
      (capabilities.max_allocation_size == 0 || size <= capabilities.max_allocation_size);
  return fits && iree_all_bits_set(capabilities.memory_type, type) &&
         iree_all_bits_set(capabilities.supported_usage, params.usage);
}

} // namespace

iree_status_t iree_hal_pool_set_initialize(iree_host_size_t initial_capacity,
                                           iree_allocator_t host_allocator,
                                           iree_hal_pool_set_t* out_pool_set) {
  *out_pool_set = {};
  out_pool_set->host_allocator = host_allocator;
  if (initial_capacity == 0)
    return iree_ok_status();
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, initial_capacity,
                                                   sizeof(iree_hal_pool_set_entry_t), &storage));
  out_pool_set->entries = static_cast<iree_hal_pool_set_entry_t*>(storage);
  out_pool_set->entry_capacity = initial_capacity;
  return iree_ok_status();
}

void iree_hal_pool_set_deinitialize(iree_hal_pool_set_t* pool_set) {
  for (const auto& entry : std::span(pool_set->entries, pool_set->entry_count)) {
    iree_hal_pool_release(entry.pool);
  }
  iree_allocator_free(pool_set->host_allocator, pool_set->entries);
  *pool_set = {};
}

iree_status_t iree_hal_pool_set_register(iree_hal_pool_set_t* pool_set, int32_t priority,
                                         iree_hal_pool_t* pool) {
  if (pool_set->entry_count == pool_set->entry_capacity) {
    void* entries = pool_set->entries;
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(
        pool_set->host_allocator, std::max<iree_host_size_t>(8, pool_set->entry_count + 1),
        sizeof(iree_hal_pool_set_entry_t), &pool_set->entry_capacity, &entries));
    pool_set->entries = static_cast<iree_hal_pool_set_entry_t*>(entries);
  }
  iree_hal_pool_retain(pool);
  auto* end = pool_set->entries + pool_set->entry_count;
  // Behind those of the same priority: registration order is kept among equals.
  auto* at = std::find_if(pool_set->entries, end,
                          [&](const auto& entry) { return entry.priority < priority; });
  std::copy_backward(at, end, end + 1);
  *at = {priority, pool};
  ++pool_set->entry_count;
  return iree_ok_status();
}

iree_hal_pool_t* iree_hal_pool_set_select(const iree_hal_pool_set_t* pool_set,
                                          iree_hal_buffer_params_t params,
                                          iree_device_size_t allocation_size) {
  iree_hal_buffer_params_canonicalize(&params);
  for (const auto& entry : std::span(pool_set->entries, pool_set->entry_count)) {
    if (serves(entry.pool, params, allocation_size))
      return entry.pool;
  }
  return nullptr;
}

iree_status_t iree_hal_pool_set_allocate_buffer(iree_hal_pool_set_t* pool_set,
                                                iree_hal_buffer_params_t params,
                                                iree_device_size_t allocation_size,
                                                const iree_async_frontier_t* requester_frontier,
                                                iree_timeout_t timeout,
                                                iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  iree_hal_pool_t* pool = iree_hal_pool_set_select(pool_set, params, allocation_size);
  if (!pool) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "no pool serves %" PRIdsz " bytes of this kind",
                            allocation_size);
  }
  return iree_hal_pool_allocate_buffer(pool, params, allocation_size, requester_frontier, timeout,
                                       out_buffer);
}
