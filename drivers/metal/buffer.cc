#include "drivers/metal/buffer.h"

#include <new>

#include "drivers/metal/profiler.h"
#include "drivers/metal/transient_buffer.h"

namespace bessemer::metal_driver {
namespace {

struct Buffer {
  iree_hal_buffer_t base;
  iree_allocator_t host_allocator;
  std::shared_ptr<DeviceMemory> memory;
  MetalPtr<MTL::Buffer> handle;
  iree_device_size_t handle_offset;
  iree_hal_buffer_release_callback_t release_callback;
  bool adopts_handle;
  bool counts_as_memory;
  uint64_t allocation_id;

  static Buffer* From(iree_hal_buffer_t* base) { return reinterpret_cast<Buffer*>(base); }
};

/// Tells profiles of memory that comes or goes.
void Report(Buffer* buffer, iree_hal_profile_memory_event_type_t owned,
            iree_hal_profile_memory_event_type_t imported) {
  std::shared_ptr<Profiler> profiler = buffer->memory->profiling().Current();
  if (!profiler || !buffer->adopts_handle)
    return;
  auto event = iree_hal_profile_memory_event_default();
  event.type = buffer->counts_as_memory ? owned : imported;
  if (!buffer->counts_as_memory)
    event.flags = IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_EXTERNALLY_OWNED;
  event.result = IREE_STATUS_OK;
  event.allocation_id = buffer->allocation_id;
  event.backing_id = reinterpret_cast<uintptr_t>(buffer->handle.get());
  event.memory_type = buffer->base.memory_type;
  event.buffer_usage = buffer->base.allowed_usage;
  event.offset = buffer->handle_offset;
  event.length = buffer->base.allocation_size;
  profiler->RecordMemory(event);
}

void Destroy(iree_hal_buffer_t* base) {
  Buffer* buffer = Buffer::From(base);
  Report(buffer, IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE,
         IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_UNIMPORT);
  if (buffer->release_callback.fn)
    buffer->release_callback.fn(buffer->release_callback.user_data, base);
  if (buffer->adopts_handle) {
    buffer->memory->Forget(buffer->handle.get(), base->memory_type, buffer->counts_as_memory);
  }
  iree_allocator_t host_allocator = buffer->host_allocator;
  buffer->~Buffer();
  iree_allocator_free(host_allocator, buffer);
}

iree_status_t MapRange(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                       iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                       iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  Buffer* buffer = Buffer::From(base);
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_memory_type(iree_hal_buffer_memory_type(base),
                                                            IREE_HAL_MEMORY_TYPE_HOST_VISIBLE));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(
      iree_hal_buffer_allowed_usage(base), mapping_mode == IREE_HAL_MAPPING_MODE_PERSISTENT
                                               ? IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT
                                               : IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED));
  auto* contents = static_cast<uint8_t*>(buffer->handle->contents());
  if (!contents)
    return iree_make_status(IREE_STATUS_INTERNAL, "memory of the host without an address");
  uint8_t* data = contents + buffer->handle_offset + local_byte_offset;
#ifndef NDEBUG
  // Shows readers of what they said they would overwrite.
  if (iree_any_bit_set(memory_access, IREE_HAL_MEMORY_ACCESS_DISCARD))
    memset(data, 0xCD, local_byte_length);
#else
  (void)memory_access;
#endif
  mapping->contents = iree_make_byte_span(data, local_byte_length);
  return iree_ok_status();
}

constexpr iree_hal_buffer_vtable_t kVtable = {
    iree_hal_buffer_recycle, Destroy, MapRange, UnmapRange, SyncRange, SyncRange,
};

} // namespace

iree_status_t UnmapRange(iree_hal_buffer_t*, iree_device_size_t, iree_device_size_t,
                         iree_hal_buffer_mapping_t*) {
  return iree_ok_status();
}

iree_status_t SyncRange(iree_hal_buffer_t*, iree_device_size_t, iree_device_size_t) {
  return iree_ok_status();
}

iree_status_t CreateBuffer(const BufferOptions& options, std::shared_ptr<DeviceMemory> memory,
                           MetalPtr<MTL::Buffer> handle, iree_hal_buffer_t** out_buffer) {
  static_assert(offsetof(Buffer, base) == 0);
  *out_buffer = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(options.host_allocator, sizeof(Buffer), &storage));
  auto* buffer = new (storage) Buffer{};
  iree_hal_buffer_initialize(options.placement, &buffer->base, options.allocation_size,
                             /*byte_offset=*/0, options.byte_length, options.params.type,
                             options.params.access, options.params.usage, &kVtable, &buffer->base);
  buffer->host_allocator = options.host_allocator;
  buffer->memory = std::move(memory);
  buffer->handle = std::move(handle);
  buffer->handle_offset = options.handle_offset;
  buffer->release_callback = options.release_callback;
  buffer->adopts_handle = options.adopts_handle;
  buffer->counts_as_memory = options.counts_as_memory;
  buffer->allocation_id = NewAllocationId();
  if (buffer->adopts_handle) {
    buffer->memory->Adopt(buffer->handle.get(), options.params.type, buffer->counts_as_memory);
  }
  Report(buffer, IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE,
         IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_IMPORT);
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

iree_status_t Locate(iree_hal_buffer_t* root_buffer, BufferLocation* out_location) {
  if (iree_hal_resource_is(root_buffer, &kVtable)) {
    Buffer* buffer = Buffer::From(root_buffer);
    *out_location = {buffer->handle.get(), buffer->handle_offset};
    return iree_ok_status();
  }
  if (IsTransient(root_buffer)) {
    iree_hal_buffer_t* storage = nullptr;
    IREE_RETURN_IF_ERROR(TransientStorage(root_buffer, &storage));
    iree_hal_buffer_t* root = iree_hal_buffer_allocated_buffer(storage);
    IREE_RETURN_IF_ERROR(Locate(root, out_location));
    out_location->offset += iree_hal_buffer_byte_offset(storage);
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "the buffer is not of this driver: import it first");
}

} // namespace bessemer::metal_driver
