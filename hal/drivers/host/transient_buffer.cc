#include "hal/drivers/host/transient_buffer.h"

#include <new>

#include "hal/hal/object.h"

namespace bessemer::hal::host {
namespace {

TransientBuffer* cast(iree_hal_buffer_t* base) { return reinterpret_cast<TransientBuffer*>(base); }

const iree_hal_buffer_vtable_t& vtableOfStorage(iree_hal_buffer_t* storage) {
  return vtableOf<iree_hal_buffer_vtable_t>(storage);
}

iree_status_t mapRange(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mode,
                       iree_hal_memory_access_t access, iree_device_size_t offset,
                       iree_device_size_t length, iree_hal_buffer_mapping_t* mapping) {
  Retained<iree_hal_buffer_t> storage;
  IREE_RETURN_IF_ERROR(cast(base)->storage(&storage));
  IREE_RETURN_IF_ERROR(vtableOfStorage(storage.get())
                           .map_range(storage.get(), mode, access, offset, length, mapping));
  // The mapping keeps this very memory, whatever becomes of the buffer meanwhile.
  iree_hal_buffer_retain(storage.get());
  mapping->impl.reserved[0] = reinterpret_cast<uintptr_t>(storage.get());
  return iree_ok_status();
}

iree_status_t unmapRange(iree_hal_buffer_t*, iree_device_size_t offset, iree_device_size_t length,
                         iree_hal_buffer_mapping_t* mapping) {
  auto* storage =
      reinterpret_cast<iree_hal_buffer_t*>(static_cast<uintptr_t>(mapping->impl.reserved[0]));
  iree_status_t status = vtableOfStorage(storage).unmap_range(storage, offset, length, mapping);
  iree_hal_buffer_release(storage);
  return status;
}

iree_status_t invalidateRange(iree_hal_buffer_t* base, iree_device_size_t offset,
                              iree_device_size_t length) {
  Retained<iree_hal_buffer_t> storage;
  IREE_RETURN_IF_ERROR(cast(base)->storage(&storage));
  return vtableOfStorage(storage.get()).invalidate_range(storage.get(), offset, length);
}

iree_status_t flushRange(iree_hal_buffer_t* base, iree_device_size_t offset,
                         iree_device_size_t length) {
  Retained<iree_hal_buffer_t> storage;
  IREE_RETURN_IF_ERROR(cast(base)->storage(&storage));
  return vtableOfStorage(storage.get()).flush_range(storage.get(), offset, length);
}

} // namespace

const iree_hal_buffer_vtable_t TransientBuffer::kVtable = {
    .recycle = iree_hal_buffer_recycle,
    .destroy = TransientBuffer::destroy,
    .map_range = mapRange,
    .unmap_range = unmapRange,
    .invalidate_range = invalidateRange,
    .flush_range = flushRange,
};

iree_status_t TransientBuffer::create(iree_hal_buffer_placement_t placement,
                                      const iree_hal_buffer_params_t& params,
                                      iree_device_size_t size, iree_allocator_t hostAllocator,
                                      TransientBuffer** out_buffer) {
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(hostAllocator, sizeof(TransientBuffer), &storage));
  auto* buffer = new (storage) TransientBuffer();
  buffer->hostAllocator_ = hostAllocator;
  iree_hal_buffer_initialize(placement, &buffer->base_, size, 0, size, params.type, params.access,
                             params.usage, &kVtable, &buffer->base_);
  *out_buffer = buffer;
  return iree_ok_status();
}

void TransientBuffer::destroy(iree_hal_buffer_t* base) {
  TransientBuffer* buffer = cast(base);
  // Memory that was never deallocated goes back without a frontier: nothing holds the buffer, so
  // nothing uses it.
  if (buffer->storage_)
    iree_status_ignore(buffer->decommit(nullptr));
  iree_allocator_t hostAllocator = buffer->hostAllocator_;
  buffer->~TransientBuffer();
  iree_allocator_free(hostAllocator, buffer);
}

TransientBuffer* TransientBuffer::from(iree_hal_buffer_t* buffer) {
  iree_hal_buffer_t* allocated = iree_hal_buffer_allocated_buffer(buffer);
  return iree_hal_resource_is(allocated, &kVtable) ? cast(allocated) : nullptr;
}

void TransientBuffer::commit(Retained<iree_hal_pool_t> pool,
                             const iree_hal_pool_reservation_t& reservation,
                             Retained<iree_hal_buffer_t> storage) {
  std::lock_guard lock(mutex_);
  pool_ = std::move(pool);
  reservation_ = reservation;
  storage_ = std::move(storage);
}

bool TransientBuffer::announceDealloca() {
  std::lock_guard lock(mutex_);
  return !std::exchange(deallocaAnnounced_, true);
}

void TransientBuffer::revokeDealloca() {
  std::lock_guard lock(mutex_);
  deallocaAnnounced_ = false;
}

iree_status_t TransientBuffer::decommit(const iree_async_frontier_t* deathFrontier) {
  Retained<iree_hal_pool_t> pool;
  Retained<iree_hal_buffer_t> storage;
  {
    std::lock_guard lock(mutex_);
    std::swap(pool, pool_);
    std::swap(storage, storage_);
  }
  if (!storage) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the deallocated buffer has no memory");
  }
  storage = {};
  iree_hal_pool_release_reservation(pool.get(), &reservation_, deathFrontier);
  return iree_ok_status();
}

iree_status_t TransientBuffer::storage(Retained<iree_hal_buffer_t>* out_storage) {
  std::lock_guard lock(mutex_);
  if (!storage_) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the buffer has no memory: its allocation has not executed yet, or its "
                            "deallocation has");
  }
  *out_storage = storage_;
  return iree_ok_status();
}

} // namespace bessemer::hal::host
