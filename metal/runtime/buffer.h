// MTLBuffer: a range of host memory. Its GPU address is its host address, for life.
#pragma once

#include "metal/objc/block.h"
#include "metal/runtime/heap.h"
#include "metal/runtime/resource.h"

namespace mtl {

class Buffer : public Resource {
public:
  OBJC_CLASS(Buffer, "BSMBuffer");

  using Deallocator = objc::Block<void(void* pointer, UInteger length)>;

  /// Zeroed memory. Null, with a message, for a length of 0 or beyond the device's limit, for
  /// memoryless storage, and when there is no memory.
  static objc::Ref<Buffer> create(Device* device, UInteger length, ResourceOptions options);
  /// The same with the first `length` bytes of `bytes` in it.
  static objc::Ref<Buffer> create_with_bytes(Device* device, const void* bytes, UInteger length,
                                             ResourceOptions options);
  /// Takes memory that the client owns and keeps alive until `deallocator` (may be null) is called.
  /// Null, with a message, when `pointer` is not aligned to a page.
  static objc::Ref<Buffer> create_no_copy(Device* device, void* pointer, UInteger length,
                                          ResourceOptions options, Deallocator* deallocator);

  struct HeapRange {
    objc::Ref<Heap> heap;
    UInteger offset;
    UInteger size; // taken from an automatic heap; 0 in a placement heap
  };
  /// For Heap: memory within a heap.
  Buffer(Device* device, HeapRange range, UInteger length, ResourceOptions options);
  /// For the create functions: memory of its own, or a client's.
  Buffer(Device* device, void* memory, UInteger allocated_size, UInteger length,
         ResourceOptions options, bool owned, Deallocator* deallocator);
  ~Buffer();

  UInteger length() const { return length_; }
  /// What kernels see, also for private storage.
  char* address() const { return static_cast<char*>(memory_); }
  /// Null for private storage.
  void* contents() const { return storage_mode() == StorageMode::Private ? nullptr : memory_; }
  uint64_t gpu_address() const { return reinterpret_cast<uint64_t>(memory_); }
  void did_modify_range(Range range);

  Heap* heap() const { return range_.heap.get(); }
  UInteger heap_offset() const { return range_.offset; }
  void make_aliasable();
  bool is_aliasable() const { return aliasable_.load(std::memory_order_relaxed); }

private:
  void* memory_;
  UInteger length_;
  HeapRange range_{};
  bool owned_ = false; // memory_ is from host_memory_allocate
  std::atomic<bool> aliasable_{false};
  objc::BlockRef<void(void*, UInteger)> deallocator_;
};

} // namespace mtl
