#include "metal/runtime/heap.h"

#include <algorithm>
#include <bit>

#include "metal/runtime/buffer.h"
#include "metal/runtime/device.h"
#include "metal/runtime/heap_descriptor.h"
#include "metal/runtime/host_memory.h"
#include "metal/runtime/misuse.h"

namespace mtl {

namespace {

constexpr UInteger kAlignment = 256;

using Number = unsigned long long; // for %llu

} // namespace

SizeAndAlign heap_buffer_size_and_align(UInteger length) {
  return {(length + kAlignment - 1) / kAlignment * kAlignment, kAlignment};
}

objc::Ref<Heap> Heap::create(Device* device, HeapDescriptor* descriptor) {
  constexpr char kWhere[] = "MTLDevice newHeapWithDescriptor:";
  if (!descriptor) {
    report_misuse(kWhere, "descriptor is null");
    return nullptr;
  }
  UInteger size = descriptor->size();
  if (size == 0) {
    report_misuse(kWhere, "size is 0");
    return nullptr;
  }
  if (size > device->max_buffer_length()) {
    report_misuse(kWhere, "size %llu is over the device's limit, %llu", Number(size),
                  Number(device->max_buffer_length()));
    return nullptr;
  }
  if (descriptor->type() != HeapType::Automatic && descriptor->type() != HeapType::Placement) {
    report_misuse(kWhere, "type %lld is not supported: this device has no sparse textures",
                  static_cast<long long>(descriptor->type()));
    return nullptr;
  }
  ResourceOptions options = descriptor->resource_options();
  if (options.storage_mode() > StorageMode::Private) {
    report_misuse(kWhere, "storage mode %llu holds no buffers", Number(options.storage_mode()));
    return nullptr;
  }
  // Resources of a heap are untracked unless the heap asks for it.
  if (options.hazard_mode() == HazardTrackingMode::Default)
    options = ResourceOptions::make(options.cache_mode(), options.storage_mode(),
                                    HazardTrackingMode::Untracked);
  UInteger allocated = host_memory_size(std::max(size, host_page_size()));
  void* memory = host_memory_allocate(allocated);
  if (!memory) {
    report_misuse(kWhere, "no memory for %llu bytes", Number(size));
    return nullptr;
  }
  auto heap =
      objc::make<Heap>(device, static_cast<char*>(memory), allocated, descriptor->type(), options);
  return heap;
}

Heap::Heap(Device* device, char* memory, UInteger size, HeapType type, ResourceOptions options)
    : DeviceObject(device), memory_(memory), size_(size), type_(type), options_(options),
      ranges_(type == HeapType::Automatic ? size : 0) {
  device->add_allocated(size_);
}

Heap::~Heap() {
  device()->remove_allocated(size_);
  host_memory_free(memory_, size_);
}

PurgeableState Heap::set_purgeable_state(PurgeableState state) {
  if (state == PurgeableState::KeepCurrent)
    return purgeable_state_.load(std::memory_order_relaxed);
  return purgeable_state_.exchange(state, std::memory_order_relaxed);
}

UInteger Heap::used_size() const {
  std::lock_guard lock(mutex_);
  return ranges_.used();
}

UInteger Heap::max_available_size(UInteger alignment) const {
  if (type_ == HeapType::Placement)
    return size_;
  if (alignment == 0)
    alignment = 1;
  std::lock_guard lock(mutex_);
  return ranges_.largest_free(std::bit_ceil(alignment));
}

bool Heap::check_buffer(const char* where, HeapType needed, UInteger length,
                        ResourceOptions options) const {
  if (type_ != needed)
    report_misuse(where, "the heap's type is not %s",
                  needed == HeapType::Automatic ? "MTLHeapTypeAutomatic" : "MTLHeapTypePlacement");
  else if (length == 0)
    report_misuse(where, "length is 0");
  else if (options.storage_mode() != storage_mode())
    report_misuse(where, "storage mode %llu is not the heap's, %llu",
                  Number(options.storage_mode()), Number(storage_mode()));
  else if (options.cache_mode() != cpu_cache_mode())
    report_misuse(where, "CPU cache mode %llu is not the heap's, %llu",
                  Number(options.cache_mode()), Number(cpu_cache_mode()));
  else
    return true;
  return false;
}

Buffer* Heap::new_buffer(UInteger length, ResourceOptions options) {
  if (!check_buffer("MTLHeap newBufferWithLength:options:", HeapType::Automatic, length, options) ||
      length > size_)
    return nullptr;
  auto [size, alignment] = heap_buffer_size_and_align(length);
  std::optional<uint64_t> offset;
  {
    std::lock_guard lock(mutex_);
    offset = ranges_.allocate(size, alignment);
  }
  if (!offset)
    return nullptr; // a full heap is no misuse
  return objc::make<Buffer>(device(), Buffer::HeapRange{objc::Ref<Heap>(this), *offset, size},
                            length, options_)
      .take();
}

Buffer* Heap::new_buffer_at(UInteger length, ResourceOptions options, UInteger offset) {
  constexpr char kWhere[] = "MTLHeap newBufferWithLength:options:offset:";
  if (!check_buffer(kWhere, HeapType::Placement, length, options))
    return nullptr;
  if (offset % kAlignment != 0) {
    report_misuse(kWhere, "offset %llu is no multiple of %llu", Number(offset), Number(kAlignment));
    return nullptr;
  }
  if (offset > size_ || length > size_ - offset) {
    report_misuse(kWhere, "offset %llu and length %llu end after the heap's %llu bytes",
                  Number(offset), Number(length), Number(size_));
    return nullptr;
  }
  return objc::make<Buffer>(device(), Buffer::HeapRange{objc::Ref<Heap>(this), offset, 0}, length,
                            options_)
      .take();
}

void Heap::give_back(UInteger offset, UInteger size) {
  std::lock_guard lock(mutex_);
  ranges_.free(offset, size);
}

namespace {

objc::Object* refuse(const char* where, const char* what) {
  report_misuse(where, "this device computes only: it has no %s", what);
  return nullptr;
}
objc::Object* new_texture(Heap*, objc::Object*) {
  return refuse("MTLHeap newTextureWithDescriptor:", "textures");
}
objc::Object* new_texture_at(Heap*, objc::Object*, UInteger) {
  return refuse("MTLHeap newTextureWithDescriptor:offset:", "textures");
}
objc::Object* new_structure(Heap*, UInteger) {
  return refuse("MTLHeap newAccelerationStructureWithSize:", "ray tracing");
}
objc::Object* new_structure_at(Heap*, UInteger, UInteger) {
  return refuse("MTLHeap newAccelerationStructureWithSize:offset:", "ray tracing");
}
objc::Object* new_structure_described(Heap*, objc::Object*) {
  return refuse("MTLHeap newAccelerationStructureWithDescriptor:", "ray tracing");
}
objc::Object* new_structure_described_at(Heap*, objc::Object*, UInteger) {
  return refuse("MTLHeap newAccelerationStructureWithDescriptor:offset:", "ray tracing");
}

} // namespace

OBJC_DEFINE_CLASS(
    Heap, "BSMHeap", DeviceObject,
    .methods =
        {
            objc::method<&Heap::type>("type"),
            objc::method<&Heap::size>("size"),
            objc::method<&Heap::size>("currentAllocatedSize"),
            objc::method<&Heap::size>("allocatedSize"),
            objc::method<&Heap::used_size>("usedSize"),
            objc::method<&Heap::max_available_size>("maxAvailableSizeWithAlignment:"),
            objc::method<&Heap::storage_mode>("storageMode"),
            objc::method<&Heap::cpu_cache_mode>("cpuCacheMode"),
            objc::method<&Heap::hazard_tracking_mode>("hazardTrackingMode"),
            objc::method<&Heap::resource_options>("resourceOptions"),
            objc::method<&Heap::set_purgeable_state>("setPurgeableState:"),
            objc::method<&Heap::new_buffer>("newBufferWithLength:options:"),
            objc::method<&Heap::new_buffer_at>("newBufferWithLength:options:offset:"),
            objc::method<&new_texture>("newTextureWithDescriptor:"),
            objc::method<&new_texture_at>("newTextureWithDescriptor:offset:"),
            objc::method<&new_structure>("newAccelerationStructureWithSize:"),
            objc::method<&new_structure_at>("newAccelerationStructureWithSize:offset:"),
            objc::method<&new_structure_described>("newAccelerationStructureWithDescriptor:"),
            objc::method<&new_structure_described_at>(
                "newAccelerationStructureWithDescriptor:offset:"),
        },
    .protocols = {"MTLHeap", "MTLAllocation"});

} // namespace mtl
