// A view of a byte range of another buffer's allocation. Ranges handed to the allocation's vtable
// are already absolute, so every operation just forwards.

#include "hal/hal/object.h"
#include "iree/hal/buffer.h"

namespace {

using bessemer::hal::vtableOf;

struct SubspanBuffer {
  iree_hal_buffer_t base;
  iree_allocator_t hostAllocator;
};

const iree_hal_buffer_vtable_t& allocationVtable(iree_hal_buffer_t* buffer) {
  return vtableOf<iree_hal_buffer_vtable_t>(buffer->allocated_buffer);
}

void destroy(iree_hal_buffer_t* base) {
  auto* buffer = reinterpret_cast<SubspanBuffer*>(base);
  iree_allocator_t hostAllocator = buffer->hostAllocator;
  iree_hal_buffer_release(base->allocated_buffer);
  iree_allocator_free(hostAllocator, buffer);
}

iree_status_t mapRange(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mode,
                       iree_hal_memory_access_t access, iree_device_size_t offset,
                       iree_device_size_t length, iree_hal_buffer_mapping_t* mapping) {
  return allocationVtable(buffer).map_range(buffer->allocated_buffer, mode, access, offset, length,
                                            mapping);
}

iree_status_t unmapRange(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                         iree_device_size_t length, iree_hal_buffer_mapping_t* mapping) {
  return allocationVtable(buffer).unmap_range(buffer->allocated_buffer, offset, length, mapping);
}

iree_status_t invalidateRange(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                              iree_device_size_t length) {
  return allocationVtable(buffer).invalidate_range(buffer->allocated_buffer, offset, length);
}

iree_status_t flushRange(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                         iree_device_size_t length) {
  return allocationVtable(buffer).flush_range(buffer->allocated_buffer, offset, length);
}

const iree_hal_buffer_vtable_t kVtable = {
    .recycle = iree_hal_buffer_recycle,
    .destroy = destroy,
    .map_range = mapRange,
    .unmap_range = unmapRange,
    .invalidate_range = invalidateRange,
    .flush_range = flushRange,
};

} // namespace

iree_status_t iree_hal_subspan_buffer_create(iree_hal_buffer_t* allocated_buffer,
                                             iree_device_size_t byte_offset,
                                             iree_device_size_t byte_length,
                                             iree_allocator_t host_allocator,
                                             iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  SubspanBuffer* buffer = nullptr;
  IREE_RETURN_IF_ERROR(bessemer::hal::allocateObject(host_allocator, 0, &buffer));
  iree_hal_buffer_initialize(allocated_buffer->placement, allocated_buffer,
                             allocated_buffer->allocation_size, byte_offset, byte_length,
                             allocated_buffer->memory_type, allocated_buffer->allowed_access,
                             allocated_buffer->allowed_usage, &kVtable, &buffer->base);
  buffer->hostAllocator = host_allocator;
  *out_buffer = &buffer->base;
  return iree_ok_status();
}
