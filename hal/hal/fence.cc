// A fence is a set of semaphore timepoints with room for a fixed number of them. A null fence has
// been reached.

#include "iree/hal/fence.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr iree_host_size_t kMaxCapacity = UINT16_MAX - 1;

// Semaphores lie right behind the fence, their values behind all of them.
iree_hal_semaphore_t** semaphoresOf(iree_hal_fence_t* fence) {
  return reinterpret_cast<iree_hal_semaphore_t**>(fence + 1);
}

uint64_t* valuesOf(iree_hal_fence_t* fence) {
  return reinterpret_cast<uint64_t*>(semaphoresOf(fence) + fence->capacity);
}

static_assert(sizeof(iree_hal_fence_t) % alignof(uint64_t) == 0);

} // namespace

iree_status_t iree_hal_fence_create(iree_host_size_t capacity, iree_allocator_t host_allocator,
                                    iree_hal_fence_t** out_fence) {
  *out_fence = nullptr;
  if (capacity > kMaxCapacity) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a fence holds at most %" PRIhsz " timepoints, not %" PRIhsz,
                            kMaxCapacity, capacity);
  }
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(
      host_allocator, sizeof(iree_hal_fence_t), capacity,
      sizeof(iree_hal_semaphore_t*) + sizeof(uint64_t), &storage));
  auto* fence = static_cast<iree_hal_fence_t*>(storage);
  iree_atomic_ref_count_init(&fence->ref_count);
  fence->host_allocator = host_allocator;
  fence->capacity = static_cast<uint16_t>(capacity);
  fence->count = 0;
  *out_fence = fence;
  return iree_ok_status();
}

iree_status_t iree_hal_fence_create_at(iree_hal_semaphore_t* semaphore, uint64_t value,
                                       iree_allocator_t host_allocator,
                                       iree_hal_fence_t** out_fence) {
  IREE_RETURN_IF_ERROR(iree_hal_fence_create(1, host_allocator, out_fence));
  iree_status_t status = iree_hal_fence_insert(*out_fence, semaphore, value);
  if (!iree_status_is_ok(status)) {
    iree_hal_fence_release(*out_fence);
    *out_fence = nullptr;
  }
  return status;
}

iree_status_t iree_hal_fence_join(iree_host_size_t fence_count, iree_hal_fence_t** fences,
                                  iree_allocator_t host_allocator, iree_hal_fence_t** out_fence) {
  *out_fence = nullptr;
  iree_host_size_t timepoints = 0;
  for (iree_host_size_t i = 0; i < fence_count; ++i) {
    timepoints += iree_hal_fence_timepoint_count(fences[i]);
  }
  if (timepoints == 0)
    return iree_ok_status();
  iree_hal_fence_t* joined = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_fence_create(timepoints, host_allocator, &joined));
  for (iree_host_size_t i = 0; i < fence_count; ++i) {
    iree_status_t status = iree_hal_fence_extend(joined, fences[i]);
    if (!iree_status_is_ok(status)) {
      iree_hal_fence_release(joined);
      return status;
    }
  }
  *out_fence = joined;
  return iree_ok_status();
}

void iree_hal_fence_retain(iree_hal_fence_t* fence) {
  if (fence)
    iree_atomic_ref_count_inc(&fence->ref_count);
}

void iree_hal_fence_release(iree_hal_fence_t* fence) {
  if (fence && iree_atomic_ref_count_dec(&fence->ref_count) == 1)
    iree_hal_fence_destroy(fence);
}

void iree_hal_fence_destroy(iree_hal_fence_t* fence) {
  if (!fence)
    return;
  iree_hal_semaphore_list_release(iree_hal_fence_semaphore_list(fence));
  iree_allocator_free(fence->host_allocator, fence);
}

iree_hal_semaphore_list_t iree_hal_fence_semaphore_list(iree_hal_fence_t* fence) {
  iree_hal_semaphore_list_t list = iree_hal_semaphore_list_empty();
  if (!fence)
    return list;
  list.count = fence->count;
  list.semaphores = semaphoresOf(fence);
  list.payload_values = valuesOf(fence);
  return list;
}

iree_host_size_t iree_hal_fence_timepoint_count(const iree_hal_fence_t* fence) {
  return fence ? fence->count : 0;
}

iree_status_t iree_hal_fence_insert(iree_hal_fence_t* fence, iree_hal_semaphore_t* semaphore,
                                    uint64_t value) {
  iree_hal_semaphore_t** semaphores = semaphoresOf(fence);
  uint64_t* values = valuesOf(fence);
  iree_hal_semaphore_t** known = std::find(semaphores, semaphores + fence->count, semaphore);
  if (known != semaphores + fence->count) {
    uint64_t& current = values[known - semaphores];
    current = std::max(current, value);
    return iree_ok_status();
  }
  if (fence->count == fence->capacity) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "fence has room for %u timepoints and holds as many",
                            (unsigned)fence->capacity);
  }
  iree_hal_semaphore_retain(semaphore);
  semaphores[fence->count] = semaphore;
  values[fence->count] = value;
  ++fence->count;
  return iree_ok_status();
}

iree_status_t iree_hal_fence_extend(iree_hal_fence_t* into_fence, iree_hal_fence_t* from_fence) {
  iree_hal_semaphore_list_t source = iree_hal_fence_semaphore_list(from_fence);
  for (iree_host_size_t i = 0; i < source.count; ++i) {
    IREE_RETURN_IF_ERROR(
        iree_hal_fence_insert(into_fence, source.semaphores[i], source.payload_values[i]));
  }
  return iree_ok_status();
}

iree_status_t iree_hal_fence_query(iree_hal_fence_t* fence) {
  iree_hal_semaphore_list_t list = iree_hal_fence_semaphore_list(fence);
  // A failure anywhere outweighs a timepoint that is merely not reached yet.
  bool reached = true;
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    uint64_t value = 0;
    IREE_RETURN_IF_ERROR(iree_hal_semaphore_query(list.semaphores[i], &value));
    reached = reached && value >= list.payload_values[i];
  }
  return reached ? iree_ok_status() : iree_status_from_code(IREE_STATUS_DEFERRED);
}

iree_status_t iree_hal_fence_signal(iree_hal_fence_t* fence) {
  return iree_hal_semaphore_list_signal(iree_hal_fence_semaphore_list(fence), nullptr);
}

void iree_hal_fence_fail(iree_hal_fence_t* fence, iree_status_t signal_status) {
  iree_hal_semaphore_list_fail(iree_hal_fence_semaphore_list(fence), signal_status);
}

iree_status_t iree_hal_fence_wait(iree_hal_fence_t* fence, iree_timeout_t timeout,
                                  iree_async_wait_flags_t flags) {
  return iree_hal_semaphore_list_wait(iree_hal_fence_semaphore_list(fence), timeout, flags);
}
