// An allocator whose buffers live in host memory: for CPU devices and for staging.

#include <bit>
#include <cstring>
#include <new>

#include "hal/hal/heap_buffer.h"
#include "hal/hal/object.h"

namespace {

using bessemer::hal::AllocationStatistics;

// One heap serves host and device alike.
constexpr iree_hal_memory_type_t kHeapType = IREE_HAL_MEMORY_TYPE_HOST_LOCAL |
                                             IREE_HAL_MEMORY_TYPE_HOST_CACHED |
                                             IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
constexpr iree_hal_buffer_usage_t kHeapUsage =
    IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH |
    IREE_HAL_BUFFER_USAGE_SHARING_EXPORT | IREE_HAL_BUFFER_USAGE_SHARING_REPLICATE |
    IREE_HAL_BUFFER_USAGE_SHARING_CONCURRENT | IREE_HAL_BUFFER_USAGE_SHARING_IMMUTABLE |
    IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |
    IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL | IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_SEQUENTIAL_WRITE;

struct HeapAllocator {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  iree_allocator_t dataAllocator;
  iree_string_view_t identifier;
  std::shared_ptr<AllocationStatistics> statistics;
};

HeapAllocator* cast(iree_hal_allocator_t* allocator) {
  return reinterpret_cast<HeapAllocator*>(allocator);
}

void destroy(iree_hal_allocator_t* IREE_RESTRICT base) {
  HeapAllocator* allocator = cast(base);
  iree_allocator_t hostAllocator = allocator->hostAllocator;
  allocator->~HeapAllocator();
  iree_allocator_free(hostAllocator, allocator);
}

iree_allocator_t hostAllocator(const iree_hal_allocator_t* IREE_RESTRICT base) {
  return reinterpret_cast<const HeapAllocator*>(base)->hostAllocator;
}

iree_status_t trim(iree_hal_allocator_t* IREE_RESTRICT) { return iree_ok_status(); }

void queryStatistics(iree_hal_allocator_t* IREE_RESTRICT base,
                     iree_hal_allocator_statistics_t* IREE_RESTRICT out_statistics) {
  *out_statistics = cast(base)->statistics->totals();
}

iree_status_t queryMemoryHeaps(iree_hal_allocator_t* IREE_RESTRICT, iree_host_size_t capacity,
                               iree_hal_allocator_memory_heap_t* IREE_RESTRICT heaps,
                               iree_host_size_t* IREE_RESTRICT out_count) {
  *out_count = 1;
  if (capacity < 1)
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  heaps[0] = {
      .type = kHeapType,
      .allowed_usage = kHeapUsage,
      .max_allocation_size = IREE_HOST_SIZE_MAX / 2,
      .min_alignment = 64,
  };
  return iree_ok_status();
}

iree_hal_buffer_compatibility_t
queryBufferCompatibility(iree_hal_allocator_t* IREE_RESTRICT,
                         iree_hal_buffer_params_t* IREE_RESTRICT params,
                         iree_device_size_t* IREE_RESTRICT allocation_size) {
  if (params->min_alignment && !std::has_single_bit(params->min_alignment)) {
    return IREE_HAL_BUFFER_COMPATIBILITY_NONE;
  }
  iree_hal_buffer_compatibility_t compatibility = IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE |
                                                  IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE |
                                                  IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE;
  if (iree_any_bit_set(params->usage, IREE_HAL_BUFFER_USAGE_TRANSFER)) {
    compatibility |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
  }
  if (iree_any_bit_set(params->usage, IREE_HAL_BUFFER_USAGE_DISPATCH)) {
    compatibility |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH;
  }
  params->type = (params->type & ~IREE_HAL_MEMORY_TYPE_OPTIMAL) | kHeapType;
  // Mapping costs nothing here, so an optional one is granted.
  if (iree_any_bit_set(params->usage, IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL)) {
    params->usage |= IREE_HAL_BUFFER_USAGE_MAPPING;
  }
  if (*allocation_size == 0)
    *allocation_size = 1;
  return compatibility;
}

iree_status_t checkedParams(const iree_hal_buffer_params_t& params,
                            iree_hal_buffer_params_t* out_params) {
  iree_device_size_t size = 1;
  *out_params = params;
  if (queryBufferCompatibility(nullptr, out_params, &size) == IREE_HAL_BUFFER_COMPATIBILITY_NONE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "minimum alignment %" PRIdsz " is not a power of two",
                            params.min_alignment);
  }
  return iree_ok_status();
}

iree_hal_buffer_placement_t placementFor(const iree_hal_buffer_params_t& params) {
  iree_hal_buffer_placement_t placement = iree_hal_buffer_placement_undefined();
  placement.queue_affinity = params.queue_affinity;
  return placement;
}

iree_status_t allocateBuffer(iree_hal_allocator_t* IREE_RESTRICT base,
                             const iree_hal_buffer_params_t* IREE_RESTRICT params,
                             iree_device_size_t allocation_size,
                             iree_hal_buffer_t** IREE_RESTRICT out_buffer) {
  HeapAllocator* allocator = cast(base);
  iree_hal_buffer_params_t actual;
  IREE_RETURN_IF_ERROR(checkedParams(*params, &actual));
  return bessemer::hal::createHeapBuffer(allocator->statistics, placementFor(actual), actual,
                                         allocation_size, allocator->dataAllocator,
                                         allocator->hostAllocator, out_buffer);
}

void deallocateBuffer(iree_hal_allocator_t* IREE_RESTRICT,
                      iree_hal_buffer_t* IREE_RESTRICT buffer) {
  iree_hal_buffer_destroy(buffer);
}

iree_status_t importBuffer(iree_hal_allocator_t* IREE_RESTRICT base,
                           const iree_hal_buffer_params_t* IREE_RESTRICT params,
                           iree_hal_external_buffer_t* IREE_RESTRICT external_buffer,
                           iree_hal_buffer_release_callback_t release_callback,
                           iree_hal_buffer_t** IREE_RESTRICT out_buffer) {
  void* data = nullptr;
  switch (external_buffer->type) {
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION:
    data = external_buffer->handle.host_allocation.ptr;
    break;
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION:
    // A device pointer of a CPU device is a host pointer.
    data = reinterpret_cast<void*>(
        static_cast<uintptr_t>(external_buffer->handle.device_allocation.ptr));
    break;
  default:
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "heap buffers cannot be made from external buffers of type %d",
                            (int)external_buffer->type);
  }
  iree_hal_buffer_params_t actual;
  IREE_RETURN_IF_ERROR(checkedParams(*params, &actual));
  return iree_hal_heap_buffer_wrap(
      placementFor(actual), actual.type, actual.access, actual.usage, external_buffer->size,
      iree_make_byte_span(data, (iree_host_size_t)external_buffer->size), release_callback,
      cast(base)->hostAllocator, out_buffer);
}

iree_status_t exportBuffer(iree_hal_allocator_t* IREE_RESTRICT,
                           iree_hal_buffer_t* IREE_RESTRICT buffer,
                           iree_hal_external_buffer_type_t requested_type,
                           iree_hal_external_buffer_flags_t requested_flags,
                           iree_hal_external_buffer_t* IREE_RESTRICT out_external_buffer) {
  iree_byte_span_t contents =
      bessemer::hal::heapBufferContents(iree_hal_buffer_allocated_buffer(buffer));
  if (!contents.data) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "only heap buffers can be exported");
  }
  uint8_t* data = contents.data + iree_hal_buffer_byte_offset(buffer);
  out_external_buffer->type = requested_type;
  out_external_buffer->flags = requested_flags;
  out_external_buffer->size = iree_hal_buffer_byte_length(buffer);
  switch (requested_type) {
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION:
    out_external_buffer->handle.host_allocation.ptr = data;
    return iree_ok_status();
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION:
    out_external_buffer->handle.device_allocation.ptr = reinterpret_cast<uintptr_t>(data);
    return iree_ok_status();
  default:
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "heap buffers cannot be exported as type %d",
                            (int)requested_type);
  }
}

bool supportsVirtualMemory(iree_hal_allocator_t* IREE_RESTRICT) { return false; }

iree_status_t noVirtualMemory() {
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "the heap has no virtual memory operations");
}

const iree_hal_allocator_vtable_t kVtable = {
    .destroy = destroy,
    .host_allocator = hostAllocator,
    .trim = trim,
    .query_statistics = queryStatistics,
    .query_memory_heaps = queryMemoryHeaps,
    .query_buffer_compatibility = queryBufferCompatibility,
    .allocate_buffer = allocateBuffer,
    .deallocate_buffer = deallocateBuffer,
    .import_buffer = importBuffer,
    .export_buffer = exportBuffer,
    .supports_virtual_memory = supportsVirtualMemory,
    .virtual_memory_query_granularity = [](auto...) { return noVirtualMemory(); },
    .virtual_memory_reserve = [](auto...) { return noVirtualMemory(); },
    .virtual_memory_release = [](auto...) { return noVirtualMemory(); },
    .physical_memory_allocate = [](auto...) { return noVirtualMemory(); },
    .physical_memory_free = [](auto...) { return noVirtualMemory(); },
    .virtual_memory_map = [](auto...) { return noVirtualMemory(); },
    .virtual_memory_unmap = [](auto...) { return noVirtualMemory(); },
    .virtual_memory_protect = [](auto...) { return noVirtualMemory(); },
    .virtual_memory_advise = [](auto...) { return noVirtualMemory(); },
};

} // namespace

iree_status_t iree_hal_allocator_create_heap(iree_string_view_t identifier,
                                             iree_allocator_t data_allocator,
                                             iree_allocator_t host_allocator,
                                             iree_hal_allocator_t** out_allocator) {
  *out_allocator = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_with_trailing(host_allocator, sizeof(HeapAllocator),
                                                           identifier.size, &storage));
  auto* allocator = new (storage) HeapAllocator{};
  iree_hal_resource_initialize(&kVtable, &allocator->resource);
  allocator->hostAllocator = host_allocator;
  allocator->dataAllocator = data_allocator;
  char* name = reinterpret_cast<char*>(allocator + 1);
  if (identifier.size)
    std::memcpy(name, identifier.data, identifier.size);
  allocator->identifier = iree_make_string_view(name, identifier.size);
  allocator->statistics = std::make_shared<AllocationStatistics>();
  *out_allocator = reinterpret_cast<iree_hal_allocator_t*>(allocator);
  return iree_ok_status();
}
