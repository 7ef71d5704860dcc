#include "metal/runtime/buffer.h"

#include <cstring>

#include "metal/runtime/device.h"
#include "metal/runtime/host_memory.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/notification.h"

namespace mtl {

namespace {

constexpr char kNewWithLength[] = "MTLDevice newBufferWithLength:options:";
constexpr char kNewWithBytes[] = "MTLDevice newBufferWithBytes:length:options:";
constexpr char kNewNoCopy[] = "MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:";

bool check(Device* device, const char* where, UInteger length, ResourceOptions options) {
  if (length == 0)
    report_misuse(where, "length is 0");
  else if (length > device->max_buffer_length())
    report_misuse(where, "length %llu is over the device's maxBufferLength, %llu",
                  static_cast<unsigned long long>(length),
                  static_cast<unsigned long long>(device->max_buffer_length()));
  else if (options.storage_mode() == StorageMode::Memoryless)
    report_misuse(where, "a buffer can not have memoryless storage");
  else if (options.storage_mode() > StorageMode::Memoryless ||
           options.hazard_mode() > HazardTrackingMode::Tracked)
    report_misuse(where, "options 0x%llx are none of MTLResourceOptions",
                  static_cast<unsigned long long>(options.bits));
  else
    return true;
  return false;
}

ResourceOptions resolve_hazard_mode(ResourceOptions options) {
  auto mode = options.hazard_mode();
  return ResourceOptions::make(options.cache_mode(), options.storage_mode(),
                               mode == HazardTrackingMode::Default ? HazardTrackingMode::Tracked
                                                                   : mode);
}

objc::Ref<Buffer> allocate(Device* device, const char* where, UInteger length,
                           ResourceOptions options) {
  if (!check(device, where, length, options))
    return nullptr;
  uint64_t size = host_memory_size(length);
  void* memory = host_memory_allocate(size);
  if (!memory) {
    report_misuse(where, "no memory for %llu bytes", static_cast<unsigned long long>(length));
    return nullptr;
  }
  return objc::make<Buffer>(device, memory, size, length, resolve_hazard_mode(options), true,
                            nullptr);
}

} // namespace

objc::Ref<Buffer> Buffer::create(Device* device, UInteger length, ResourceOptions options) {
  return allocate(device, kNewWithLength, length, options);
}

objc::Ref<Buffer> Buffer::create_with_bytes(Device* device, const void* bytes, UInteger length,
                                            ResourceOptions options) {
  if (!bytes) {
    report_misuse(kNewWithBytes, "pointer is null");
    return nullptr;
  }
  auto buffer = allocate(device, kNewWithBytes, length, options);
  if (buffer)
    std::memcpy(buffer->memory_, bytes, length);
  return buffer;
}

objc::Ref<Buffer> Buffer::create_no_copy(Device* device, void* pointer, UInteger length,
                                         ResourceOptions options, Deallocator* deallocator) {
  if (!check(device, kNewNoCopy, length, options))
    return nullptr;
  if (options.storage_mode() == StorageMode::Private) {
    report_misuse(kNewNoCopy, "storage mode must be shared or managed");
    return nullptr;
  }
  // As on a Mac, so that what works here works there.
  if (!pointer || reinterpret_cast<uintptr_t>(pointer) % host_page_size() != 0) {
    report_misuse(kNewNoCopy, "pointer %p is not %llu byte aligned", pointer,
                  static_cast<unsigned long long>(host_page_size()));
    return nullptr;
  }
  return objc::make<Buffer>(device, pointer, length, length, resolve_hazard_mode(options), false,
                            deallocator);
}

Buffer::Buffer(Device* device, HeapRange range, UInteger length, ResourceOptions options)
    : Resource(device, options, range.size ? range.size : heap_buffer_size_and_align(length).size),
      memory_(range.heap->address() + range.offset), length_(length), range_(std::move(range)) {}

Buffer::Buffer(Device* device, void* memory, UInteger allocated_size, UInteger length,
               ResourceOptions options, bool owned, Deallocator* deallocator)
    : Resource(device, options, allocated_size), memory_(memory), length_(length), owned_(owned),
      deallocator_(deallocator) {
  device->add_allocated(allocated_size);
}

Buffer::~Buffer() {
  if (range_.heap) {
    if (range_.size && !is_aliasable())
      range_.heap->give_back(range_.offset, range_.size);
    return;
  }
  device()->remove_allocated(allocated_size());
  if (owned_)
    host_memory_free(memory_, allocated_size());
  else if (deallocator_)
    call_clients_code([deallocator = std::move(deallocator_), memory = memory_, length = length_] {
      deallocator(memory, length);
    });
}

void Buffer::did_modify_range(Range range) {
  // Host and device share their memory, so that nothing is to be done.
  if (range.location > length_ || range.length > length_ - range.location)
    report_misuse(
        "MTLBuffer didModifyRange:", "range {%llu, %llu} ends after the buffer's %llu bytes",
        static_cast<unsigned long long>(range.location),
        static_cast<unsigned long long>(range.length), static_cast<unsigned long long>(length_));
}

void Buffer::make_aliasable() {
  if (!range_.heap) {
    report_misuse("MTLResource makeAliasable", "the buffer is not from a heap");
    return;
  }
  if (!aliasable_.exchange(true) && range_.size)
    range_.heap->give_back(range_.offset, range_.size);
}

namespace {

objc::Object* new_texture(Buffer*, objc::Object*, UInteger, UInteger) {
  report_misuse("MTLBuffer newTextureWithDescriptor:offset:bytesPerRow:",
                "this device computes only: it has no textures");
  return nullptr;
}
void add_debug_marker(Buffer*, ns::String*, Range) {}
void remove_all_debug_markers(Buffer*) {}
Buffer* remote_storage_buffer(Buffer*) { return nullptr; } // the device has no peers
Buffer* new_remote_buffer_view(Buffer*, Device*) { return nullptr; }

} // namespace

OBJC_DEFINE_CLASS(
    Buffer, "BSMBuffer", Resource,
    .methods =
        {
            objc::method<&Buffer::length>("length"),
            objc::method<&Buffer::contents>("contents"),
            objc::method<&Buffer::gpu_address>("gpuAddress"),
            objc::method<&Buffer::did_modify_range>("didModifyRange:"),
            objc::method<&Buffer::heap>("heap"),
            objc::method<&Buffer::heap_offset>("heapOffset"),
            objc::method<&Buffer::make_aliasable>("makeAliasable"),
            objc::method<&Buffer::is_aliasable>("isAliasable"),
            objc::method<&new_texture>("newTextureWithDescriptor:offset:bytesPerRow:"),
            objc::method<&add_debug_marker>("addDebugMarker:range:"),
            objc::method<&remove_all_debug_markers>("removeAllDebugMarkers"),
            objc::method<&remote_storage_buffer>("remoteStorageBuffer"),
            objc::method<&new_remote_buffer_view>("newRemoteBufferViewForDevice:"),
        },
    .protocols = {"MTLBuffer"});

} // namespace mtl
