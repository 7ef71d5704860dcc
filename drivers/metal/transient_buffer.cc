#include "drivers/metal/transient_buffer.h"

#include <mutex>
#include <new>

#include "drivers/metal/buffer.h"

namespace bessemer::metal_driver {
namespace {

struct TransientBuffer {
  iree_hal_buffer_t base;
  iree_allocator_t host_allocator;
  std::mutex mutex;
  HalPtr<iree_hal_buffer_t> storage;
  StorageOrigin origin;
  bool deallocating;
  bool deallocated;
  uint64_t id;

  static TransientBuffer* From(iree_hal_buffer_t* base) {
    return reinterpret_cast<TransientBuffer*>(base);
  }
};

void Destroy(iree_hal_buffer_t* base) {
  TransientBuffer* buffer = TransientBuffer::From(base);
  DecommitTransient(base, /*death_frontier=*/nullptr);
  iree_allocator_t host_allocator = buffer->host_allocator;
  buffer->~TransientBuffer();
  iree_allocator_free(host_allocator, buffer);
}

iree_status_t MapRange(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                       iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                       iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  iree_hal_buffer_t* storage = nullptr;
  IREE_RETURN_IF_ERROR(TransientStorage(base, &storage));
  iree_hal_buffer_t* root = iree_hal_buffer_allocated_buffer(storage);
  return static_cast<const iree_hal_buffer_vtable_t*>(root->resource.vtable)
      ->map_range(root, mapping_mode, memory_access,
                  iree_hal_buffer_byte_offset(storage) + local_byte_offset, local_byte_length,
                  mapping);
}

constexpr iree_hal_buffer_vtable_t kVtable = {
    iree_hal_buffer_recycle, Destroy, MapRange, UnmapRange, SyncRange, SyncRange,
};

} // namespace

iree_status_t CreateTransient(iree_hal_buffer_placement_t placement,
                              const iree_hal_buffer_params_t& params,
                              iree_device_size_t allocation_size, iree_device_size_t byte_length,
                              iree_allocator_t host_allocator, iree_hal_buffer_t** out_buffer) {
  static_assert(offsetof(TransientBuffer, base) == 0);
  *out_buffer = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(TransientBuffer), &storage));
  auto* buffer = new (storage) TransientBuffer{};
  iree_hal_buffer_initialize(placement, &buffer->base, allocation_size, /*byte_offset=*/0,
                             byte_length, params.type, params.access, params.usage, &kVtable,
                             &buffer->base);
  buffer->host_allocator = host_allocator;
  buffer->id = NewAllocationId();
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

bool IsTransient(const iree_hal_buffer_t* buffer) { return iree_hal_resource_is(buffer, &kVtable); }

uint64_t TransientId(const iree_hal_buffer_t* buffer) {
  return reinterpret_cast<const TransientBuffer*>(buffer)->id;
}

void CommitTransient(iree_hal_buffer_t* base, HalPtr<iree_hal_buffer_t> storage,
                     StorageOrigin origin) {
  TransientBuffer* buffer = TransientBuffer::From(base);
  std::lock_guard lock(buffer->mutex);
  buffer->storage = std::move(storage);
  buffer->origin = std::move(origin);
}

iree_status_t TransientStorage(iree_hal_buffer_t* base, iree_hal_buffer_t** out_storage) {
  TransientBuffer* buffer = TransientBuffer::From(base);
  std::lock_guard lock(buffer->mutex);
  *out_storage = buffer->storage.get();
  if (*out_storage)
    return iree_ok_status();
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          buffer->deallocated
                              ? "a queue-allocated buffer was used after its deallocation"
                              : "a queue-allocated buffer was used before its allocation");
}

iree_status_t BeginTransientDealloca(iree_hal_buffer_t* base) {
  TransientBuffer* buffer = TransientBuffer::From(base);
  std::lock_guard lock(buffer->mutex);
  if (std::exchange(buffer->deallocating, true)) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "a queue-allocated buffer was deallocated twice");
  }
  return iree_ok_status();
}

void CancelTransientDealloca(iree_hal_buffer_t* base) {
  TransientBuffer* buffer = TransientBuffer::From(base);
  std::lock_guard lock(buffer->mutex);
  buffer->deallocating = false;
}

HalPtr<iree_hal_pool_t> DecommitTransient(iree_hal_buffer_t* base,
                                          const iree_async_frontier_t* death_frontier) {
  TransientBuffer* buffer = TransientBuffer::From(base);
  HalPtr<iree_hal_buffer_t> storage;
  StorageOrigin origin;
  {
    std::lock_guard lock(buffer->mutex);
    storage = std::move(buffer->storage);
    origin = std::move(buffer->origin);
    buffer->deallocated = true;
  }
  // The pool may hand the range to others as soon as it is released.
  storage = {};
  if (origin.pool) {
    iree_hal_pool_release_reservation(origin.pool.get(), &origin.reservation,
                                      origin.frees_at_once ? nullptr : death_frontier);
  }
  return std::move(origin.pool);
}

} // namespace bessemer::metal_driver
