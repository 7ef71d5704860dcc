#include "drivers/metal/allocator.h"

#include <new>
#include <unistd.h>

#include "drivers/metal/buffer.h"

namespace bessemer::metal_driver {
namespace {

struct Allocator {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_hal_device_t* device;
  std::shared_ptr<DeviceMemory> memory;

  static Allocator* From(iree_hal_allocator_t* base) { return reinterpret_cast<Allocator*>(base); }
  static const Allocator* From(const iree_hal_allocator_t* base) {
    return reinterpret_cast<const Allocator*>(base);
  }

  BufferOptions OptionsFor(const iree_hal_buffer_params_t& params) const {
    BufferOptions options;
    options.placement = {device, params.queue_affinity, IREE_HAL_BUFFER_PLACEMENT_FLAG_NONE, 0};
    options.params = params;
    options.host_allocator = host_allocator;
    return options;
  }
};

void Destroy(iree_hal_allocator_t* base) {
  Allocator* allocator = Allocator::From(base);
  iree_allocator_t host_allocator = allocator->host_allocator;
  allocator->~Allocator();
  iree_allocator_free(host_allocator, allocator);
}

iree_allocator_t HostAllocator(const iree_hal_allocator_t* base) {
  return Allocator::From(base)->host_allocator;
}

iree_status_t Trim(iree_hal_allocator_t*) { return iree_ok_status(); }

void QueryStatistics(iree_hal_allocator_t* base, iree_hal_allocator_statistics_t* out_statistics) {
  Allocator::From(base)->memory->QueryStatistics(out_statistics);
}

iree_status_t QueryMemoryHeaps(iree_hal_allocator_t* base, iree_host_size_t capacity,
                               iree_hal_allocator_memory_heap_t* heaps,
                               iree_host_size_t* out_count) {
  DeviceMemory& memory = *Allocator::From(base)->memory;
  bool unified = memory.device()->hasUnifiedMemory();
  iree_host_size_t count = unified ? 1 : 2;
  *out_count = count;
  if (capacity < count)
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  iree_hal_memory_type_t host = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED;
  iree_device_size_t max_size = memory.device()->maxBufferLength();
  iree_hal_buffer_usage_t usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH;
  iree_hal_buffer_usage_t mappable =
      usage | IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT;
  if (unified) {
    heaps[0] = {IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | host, mappable, max_size, 4};
  } else {
    heaps[0] = {IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, usage, max_size, 4};
    heaps[1] = {IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE | host, mappable, max_size, 4};
  }
  return iree_ok_status();
}

iree_hal_buffer_compatibility_t QueryBufferCompatibility(iree_hal_allocator_t* base,
                                                         iree_hal_buffer_params_t* params,
                                                         iree_device_size_t* allocation_size) {
  if (!Allocator::From(base)->memory->Resolve(*params, *allocation_size))
    return IREE_HAL_BUFFER_COMPATIBILITY_NONE;
  iree_hal_buffer_compatibility_t result = IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE |
                                           IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE |
                                           IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE;
  if (iree_any_bit_set(params->usage, IREE_HAL_BUFFER_USAGE_TRANSFER))
    result |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
  if (iree_any_bit_set(params->usage, IREE_HAL_BUFFER_USAGE_DISPATCH))
    result |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH;
  return result;
}

iree_status_t AllocateBuffer(iree_hal_allocator_t* base, const iree_hal_buffer_params_t* params,
                             iree_device_size_t allocation_size, iree_hal_buffer_t** out_buffer) {
  Allocator* allocator = Allocator::From(base);
  iree_hal_buffer_params_t resolved = *params;
  iree_device_size_t size = allocation_size;
  if (!allocator->memory->Resolve(resolved, size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "no memory of the device can be both mapped and local to it");
  }
  MetalPtr<MTL::Buffer> handle;
  IREE_RETURN_IF_ERROR(allocator->memory->Allocate(resolved, size, &handle));
  BufferOptions options = allocator->OptionsFor(resolved);
  options.allocation_size = size;
  options.byte_length = allocation_size;
  return CreateBuffer(options, allocator->memory, std::move(handle), out_buffer);
}

void DeallocateBuffer(iree_hal_allocator_t*, iree_hal_buffer_t* buffer) {
  iree_hal_buffer_destroy(buffer);
}

iree_status_t ImportBuffer(iree_hal_allocator_t* base, const iree_hal_buffer_params_t* params,
                           iree_hal_external_buffer_t* external_buffer,
                           iree_hal_buffer_release_callback_t release_callback,
                           iree_hal_buffer_t** out_buffer) {
  Allocator* allocator = Allocator::From(base);
  BufferOptions options;
  iree_device_size_t size = external_buffer->size;
  iree_hal_buffer_params_t resolved = *params;
  MetalPtr<MTL::Buffer> handle;
  iree_device_size_t offset = 0;
  switch (external_buffer->type) {
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION: {
    resolved.type |= IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
    if (!allocator->memory->Resolve(resolved, size))
      return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
    // Metal takes whole pages; what lies around the allocation in them is not touched.
    auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    auto address = reinterpret_cast<uintptr_t>(external_buffer->handle.host_allocation.ptr);
    uintptr_t first = address & ~(page - 1);
    uintptr_t last = iree_host_align(address + external_buffer->size, page);
    offset = address - first;
    IREE_RETURN_IF_ERROR(
        allocator->memory->Wrap(reinterpret_cast<void*>(first), last - first, &handle));
    break;
  }
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION: {
    auto* buffer = reinterpret_cast<MTL::Buffer*>(external_buffer->handle.device_allocation.ptr);
    if (!buffer || external_buffer->size > buffer->length()) {
      return iree_make_status(
          IREE_STATUS_OUT_OF_RANGE, "%" PRIdsz " bytes of an MTLBuffer of %" PRIu64,
          external_buffer->size, buffer ? static_cast<uint64_t>(buffer->length()) : 0);
    }
    if (buffer->storageMode() == MTL::StorageModePrivate) {
      resolved.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
    } else if (!allocator->memory->Resolve(resolved, size)) {
      return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
    }
    handle = RetainMetal(buffer);
    break;
  }
  default:
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "cannot import external buffers of type %d",
                            static_cast<int>(external_buffer->type));
  }
  options = allocator->OptionsFor(resolved);
  options.allocation_size = external_buffer->size;
  options.byte_length = external_buffer->size;
  options.handle_offset = offset;
  options.counts_as_memory = false;
  options.release_callback = release_callback;
  return CreateBuffer(options, allocator->memory, std::move(handle), out_buffer);
}

iree_status_t ExportBuffer(iree_hal_allocator_t*, iree_hal_buffer_t* buffer,
                           iree_hal_external_buffer_type_t requested_type,
                           iree_hal_external_buffer_flags_t requested_flags,
                           iree_hal_external_buffer_t* out_external_buffer) {
  BufferLocation location;
  IREE_RETURN_IF_ERROR(Locate(iree_hal_buffer_allocated_buffer(buffer), &location));
  location.offset += iree_hal_buffer_byte_offset(buffer);
  *out_external_buffer = {};
  out_external_buffer->type = requested_type;
  out_external_buffer->flags = requested_flags;
  out_external_buffer->size = iree_hal_buffer_byte_length(buffer);
  switch (requested_type) {
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION:
    out_external_buffer->handle.host_allocation.ptr = location.host_pointer();
    if (location.host_pointer())
      return iree_ok_status();
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "private memory has no address on the host");
  case IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION:
    if (location.offset != 0) {
      return iree_make_status(IREE_STATUS_UNAVAILABLE,
                              "an MTLBuffer is exported whole, and this buffer is a part of one");
    }
    out_external_buffer->handle.device_allocation.ptr = reinterpret_cast<uint64_t>(location.handle);
    return iree_ok_status();
  default:
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "cannot export external buffers of type %d",
                            static_cast<int>(requested_type));
  }
}

bool SupportsVirtualMemory(iree_hal_allocator_t*) { return false; }

iree_status_t NoVirtualMemory() {
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "Metal has no virtual memory of its own");
}
iree_status_t QueryGranularity(iree_hal_allocator_t*, iree_hal_buffer_params_t, iree_device_size_t*,
                               iree_device_size_t*) {
  return NoVirtualMemory();
}
iree_status_t Reserve(iree_hal_allocator_t*, iree_hal_queue_affinity_t, iree_device_size_t,
                      iree_hal_buffer_t**) {
  return NoVirtualMemory();
}
iree_status_t Release(iree_hal_allocator_t*, iree_hal_buffer_t*) { return NoVirtualMemory(); }
iree_status_t AllocatePhysical(iree_hal_allocator_t*, iree_hal_buffer_params_t, iree_device_size_t,
                               iree_allocator_t, iree_hal_physical_memory_t**) {
  return NoVirtualMemory();
}
iree_status_t FreePhysical(iree_hal_allocator_t*, iree_hal_physical_memory_t*) {
  return NoVirtualMemory();
}
iree_status_t Map(iree_hal_allocator_t*, iree_hal_buffer_t*, iree_device_size_t,
                  iree_hal_physical_memory_t*, iree_device_size_t, iree_device_size_t) {
  return NoVirtualMemory();
}
iree_status_t Unmap(iree_hal_allocator_t*, iree_hal_buffer_t*, iree_device_size_t,
                    iree_device_size_t) {
  return NoVirtualMemory();
}
iree_status_t Protect(iree_hal_allocator_t*, iree_hal_buffer_t*, iree_device_size_t,
                      iree_device_size_t, iree_hal_queue_affinity_t, iree_hal_memory_protection_t) {
  return NoVirtualMemory();
}
iree_status_t Advise(iree_hal_allocator_t*, iree_hal_buffer_t*, iree_device_size_t,
                     iree_device_size_t, iree_hal_queue_affinity_t, iree_hal_memory_advice_t) {
  return NoVirtualMemory();
}

constexpr iree_hal_allocator_vtable_t kVtable = {
    .destroy = Destroy,
    .host_allocator = HostAllocator,
    .trim = Trim,
    .query_statistics = QueryStatistics,
    .query_memory_heaps = QueryMemoryHeaps,
    .query_buffer_compatibility = QueryBufferCompatibility,
    .allocate_buffer = AllocateBuffer,
    .deallocate_buffer = DeallocateBuffer,
    .import_buffer = ImportBuffer,
    .export_buffer = ExportBuffer,
    .supports_virtual_memory = SupportsVirtualMemory,
    .virtual_memory_query_granularity = QueryGranularity,
    .virtual_memory_reserve = Reserve,
    .virtual_memory_release = Release,
    .physical_memory_allocate = AllocatePhysical,
    .physical_memory_free = FreePhysical,
    .virtual_memory_map = Map,
    .virtual_memory_unmap = Unmap,
    .virtual_memory_protect = Protect,
    .virtual_memory_advise = Advise,
};

} // namespace

iree_status_t CreateAllocator(iree_hal_device_t* device, std::shared_ptr<DeviceMemory> memory,
                              iree_allocator_t host_allocator,
                              iree_hal_allocator_t** out_allocator) {
  static_assert(offsetof(Allocator, resource) == 0);
  *out_allocator = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(Allocator), &storage));
  auto* allocator = new (storage) Allocator{};
  iree_hal_resource_initialize(&kVtable, &allocator->resource);
  allocator->host_allocator = host_allocator;
  allocator->device = device;
  allocator->memory = std::move(memory);
  *out_allocator = reinterpret_cast<iree_hal_allocator_t*>(allocator);
  return iree_ok_status();
}

} // namespace bessemer::metal_driver
