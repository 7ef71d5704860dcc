// MTLHeap: one piece of memory from which buffers are made.
#pragma once

#include <atomic>
#include <mutex>

#include "metal/runtime/device_object.h"
#include "metal/runtime/range_allocator.h"
#include "metal/runtime/types.h"

namespace mtl {

class Buffer;
class HeapDescriptor;

/// What a buffer of `length` bytes takes in any heap.
SizeAndAlign heap_buffer_size_and_align(UInteger length);

class Heap : public DeviceObject {
public:
  OBJC_CLASS(Heap, "BSMHeap");

  /// Null, with a message, for a size of 0 or beyond the device's limit, for sparse heaps and
  /// memoryless storage, and when there is no memory.
  static objc::Ref<Heap> create(Device* device, HeapDescriptor* descriptor);

  /// For create.
  Heap(Device* device, char* memory, UInteger size, HeapType type, ResourceOptions options);
  ~Heap();

  HeapType type() const { return type_; }
  UInteger size() const { return size_; }
  char* address() const { return memory_; }
  StorageMode storage_mode() const { return options_.storage_mode(); }
  CPUCacheMode cpu_cache_mode() const { return options_.cache_mode(); }
  HazardTrackingMode hazard_tracking_mode() const { return options_.hazard_mode(); }
  ResourceOptions resource_options() const { return options_; }
  PurgeableState set_purgeable_state(PurgeableState state);

  /// Bytes that live resources hold; of a placement heap always 0, since it does not know.
  UInteger used_size() const;
  UInteger max_available_size(UInteger alignment) const;

  /// From an automatic heap; null when there is no room. The caller owns the result.
  Buffer* new_buffer(UInteger length, ResourceOptions options);
  /// At an offset that the client chose, in a placement heap; may overlap other buffers.
  Buffer* new_buffer_at(UInteger length, ResourceOptions options, UInteger offset);

  /// For Buffer: a range of an automatic heap is free again.
  void give_back(UInteger offset, UInteger size);

private:
  bool check_buffer(const char* where, HeapType needed, UInteger length,
                    ResourceOptions options) const;

  char* memory_;
  UInteger size_;
  HeapType type_;
  ResourceOptions options_;
  std::atomic<PurgeableState> purgeable_state_{PurgeableState::NonVolatile};
  mutable std::mutex mutex_;
  RangeAllocator ranges_;
};

} // namespace mtl
