#include "hal/hal/heap_buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "iree/base/api.h"

namespace bessemer::hal {
namespace {

constexpr iree_host_size_t kMinimumAlignment = 64;

struct HeapBuffer {
  iree_hal_buffer_t base;
  iree_allocator_t hostAllocator;
  iree_byte_span_t data;
  /// Frees `data` when the buffer owns it.
  iree_allocator_t dataAllocator;
  bool ownsData;
  iree_hal_buffer_release_callback_t releaseCallback;
  std::shared_ptr<AllocationStatistics> statistics;
};

HeapBuffer* cast(iree_hal_buffer_t* buffer) { return reinterpret_cast<HeapBuffer*>(buffer); }

void destroy(iree_hal_buffer_t* base) {
  HeapBuffer* buffer = cast(base);
  if (buffer->ownsData) {
    iree_allocator_free_aligned(buffer->dataAllocator, buffer->data.data);
    if (buffer->statistics) {
      buffer->statistics->recordFree(base->memory_type, base->allocation_size);
    }
  }
  if (buffer->releaseCallback.fn) {
    buffer->releaseCallback.fn(buffer->releaseCallback.user_data, base);
  }
  iree_allocator_t hostAllocator = buffer->hostAllocator;
  buffer->~HeapBuffer();
  iree_allocator_free(hostAllocator, buffer);
}

iree_status_t mapRange(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mode,
                       iree_hal_memory_access_t access, iree_device_size_t offset,
                       iree_device_size_t length, iree_hal_buffer_mapping_t* mapping) {
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_memory_type(base->memory_type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(base->allowed_usage,
                                                      mode == IREE_HAL_MAPPING_MODE_PERSISTENT
                                                          ? IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT
                                                          : IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED));
  mapping->contents = iree_make_byte_span(cast(base)->data.data + offset, (iree_host_size_t)length);
#ifndef NDEBUG
  // Discarded contents are undefined; make a reader of them notice.
  if (iree_any_bit_set(access, IREE_HAL_MEMORY_ACCESS_DISCARD)) {
    std::memset(mapping->contents.data, 0xCD, mapping->contents.data_length);
  }
#else
  (void)access;
#endif
  return iree_ok_status();
}

iree_status_t unmapRange(iree_hal_buffer_t*, iree_device_size_t, iree_device_size_t,
                         iree_hal_buffer_mapping_t*) {
  return iree_ok_status();
}

// Host memory is coherent with the one device that uses it, the host; the fences keep the compiler
// and weakly ordered CPUs honest.
iree_status_t invalidateRange(iree_hal_buffer_t*, iree_device_size_t, iree_device_size_t) {
  iree_atomic_thread_fence(iree_memory_order_acquire);
  return iree_ok_status();
}

iree_status_t flushRange(iree_hal_buffer_t*, iree_device_size_t, iree_device_size_t) {
  iree_atomic_thread_fence(iree_memory_order_release);
  return iree_ok_status();
}

const iree_hal_buffer_vtable_t kVtable = {
    .recycle = iree_hal_buffer_recycle,
    .destroy = destroy,
    .map_range = mapRange,
    .unmap_range = unmapRange,
    .invalidate_range = invalidateRange,
    .flush_range = flushRange,
};

iree_status_t createObject(iree_hal_buffer_placement_t placement, iree_hal_memory_type_t type,
                           iree_hal_memory_access_t access, iree_hal_buffer_usage_t usage,
                           iree_device_size_t size, iree_allocator_t hostAllocator,
                           HeapBuffer** out_buffer) {
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(hostAllocator, sizeof(HeapBuffer), &storage));
  auto* buffer = new (storage) HeapBuffer{};
  iree_hal_buffer_initialize(placement, &buffer->base, size, 0, size, type, access, usage, &kVtable,
                             &buffer->base);
  buffer->hostAllocator = hostAllocator;
  *out_buffer = buffer;
  return iree_ok_status();
}

} // namespace

iree_status_t createHeapBuffer(std::shared_ptr<AllocationStatistics> statistics,
                               iree_hal_buffer_placement_t placement,
                               const iree_hal_buffer_params_t& params, iree_device_size_t size,
                               iree_allocator_t dataAllocator, iree_allocator_t hostAllocator,
                               iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  if (size > IREE_HOST_SIZE_MAX / 2) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "allocation of %" PRIdsz " bytes does not fit the address space", size);
  }
  void* data = nullptr;
  const auto alignment =
      std::max<iree_host_size_t>(kMinimumAlignment, (iree_host_size_t)params.min_alignment);
  // An empty buffer still has an address of its own.
  const auto dataSize = std::max<iree_host_size_t>(1, (iree_host_size_t)size);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(dataAllocator, dataSize, alignment, 0, &data));
  HeapBuffer* buffer = nullptr;
  iree_status_t status = createObject(placement, params.type, params.access, params.usage, size,
                                      hostAllocator, &buffer);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free_aligned(dataAllocator, data);
    return status;
  }
  buffer->data = iree_make_byte_span(data, (iree_host_size_t)size);
  buffer->dataAllocator = dataAllocator;
  buffer->ownsData = true;
  buffer->statistics = std::move(statistics);
  if (buffer->statistics)
    buffer->statistics->recordAllocation(params.type, size);
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

iree_byte_span_t heapBufferContents(iree_hal_buffer_t* buffer) {
  if (!iree_hal_resource_is(buffer, &kVtable))
    return iree_byte_span_empty();
  return cast(buffer)->data;
}

} // namespace bessemer::hal

iree_status_t iree_hal_heap_buffer_wrap(iree_hal_buffer_placement_t placement,
                                        iree_hal_memory_type_t memory_type,
                                        iree_hal_memory_access_t allowed_access,
                                        iree_hal_buffer_usage_t allowed_usage,
                                        iree_device_size_t allocation_size, iree_byte_span_t data,
                                        iree_hal_buffer_release_callback_t release_callback,
                                        iree_allocator_t host_allocator,
                                        iree_hal_buffer_t** out_buffer) {
  using namespace bessemer::hal;
  *out_buffer = nullptr;
  if (data.data_length < allocation_size) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "a buffer of %" PRIdsz " bytes cannot wrap %" PRIhsz " bytes",
                            allocation_size, data.data_length);
  }
  HeapBuffer* buffer = nullptr;
  IREE_RETURN_IF_ERROR(createObject(placement, memory_type, allowed_access, allowed_usage,
                                    allocation_size, host_allocator, &buffer));
  buffer->data = data;
  buffer->releaseCallback = release_callback;
  *out_buffer = &buffer->base;
  return iree_ok_status();
}
