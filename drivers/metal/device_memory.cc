#include "drivers/metal/device_memory.h"

#include <algorithm>
#include <atomic>

namespace bessemer::metal_driver {
namespace {

/// Metal 3 has no residency sets before macOS 15: asking is a message that any object understands.
bool Understands(NS::Object* object, const char* selector) {
  using RespondsTo = bool (*)(const void*, SEL, SEL);
  return reinterpret_cast<RespondsTo>(&objc_msgSend)(
      object, sel_registerName("respondsToSelector:"), sel_registerName(selector));
}

MetalPtr<MTL::ResidencySet> NewResidencySet(MTL::Device* device) {
  if (!Understands(device, "newResidencySetWithDescriptor:error:"))
    return {};
  auto descriptor = TakeMetal(MTL::ResidencySetDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  return TakeMetal(device->newResidencySet(descriptor.get(), &error));
}

} // namespace

uint64_t NewAllocationId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

DeviceMemory::DeviceMemory(MetalPtr<MTL::Device> device)
    : device_(std::move(device)), residency_(NewResidencySet(device_.get())),
      unified_(device_->hasUnifiedMemory()) {}

bool DeviceMemory::Resolve(iree_hal_buffer_params_t& params, iree_device_size_t& size) const {
  iree_hal_buffer_params_canonicalize(&params);
  constexpr iree_hal_memory_type_t kHostBits = IREE_HAL_MEMORY_TYPE_HOST_VISIBLE |
                                               IREE_HAL_MEMORY_TYPE_HOST_COHERENT |
                                               IREE_HAL_MEMORY_TYPE_HOST_CACHED;
  constexpr iree_hal_buffer_usage_t kMappingBits = IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED |
                                                   IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |
                                                   IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM;
  params.type &= ~static_cast<iree_hal_memory_type_t>(IREE_HAL_MEMORY_TYPE_OPTIMAL);
  if (unified_) {
    // One memory for both sides: mapping costs nothing, so that whoever can map need not copy.
    params.type |= IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | kHostBits;
    params.usage |= kMappingBits;
  } else if (iree_any_bit_set(params.type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE)) {
    params.type |= IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE | kHostBits;
    params.usage |= kMappingBits;
  } else {
    params.type |= IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
    params.usage &= ~static_cast<iree_hal_buffer_usage_t>(IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL);
    if (iree_any_bit_set(params.usage, kMappingBits))
      return false;
  }
  // Kernels address words; what they write beside the last odd bytes must be there.
  return iree_device_size_checked_align(std::max<iree_device_size_t>(size, 4), 4, &size);
}

iree_status_t DeviceMemory::Allocate(const iree_hal_buffer_params_t& params,
                                     iree_device_size_t size, MetalPtr<MTL::Buffer>* out_buffer) {
  bool host_visible = iree_any_bit_set(params.type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE);
  MTL::ResourceOptions options =
      (host_visible ? MTL::ResourceStorageModeShared : MTL::ResourceStorageModePrivate) |
      MTL::ResourceHazardTrackingModeUntracked;
  if (size > device_->maxBufferLength()) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "a buffer of %" PRIdsz " bytes is more than the %" PRIu64
                            " that the device allows",
                            size, static_cast<uint64_t>(device_->maxBufferLength()));
  }
  *out_buffer = TakeMetal(device_->newBuffer(size, options));
  if (!*out_buffer) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "the device has no %" PRIdsz " bytes for a buffer", size);
  }
  return iree_ok_status();
}

iree_status_t DeviceMemory::Wrap(void* data, iree_device_size_t size,
                                 MetalPtr<MTL::Buffer>* out_buffer) {
  *out_buffer = TakeMetal(device_->newBuffer(
      data, size, MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeUntracked,
      nullptr));
  if (!*out_buffer) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "the device cannot use the %" PRIdsz " bytes at %p in place", size,
                            data);
  }
  return iree_ok_status();
}

void DeviceMemory::Adopt(MTL::Buffer* buffer, iree_hal_memory_type_t type, bool is_owned) {
  std::lock_guard lock(mutex_);
  if (residency_) {
    residency_->addAllocation(buffer);
    residency_changed_ = true;
  }
  IREE_STATISTICS(if (is_owned) iree_hal_allocator_statistics_record_alloc(&statistics_, type,
                                                                           buffer->length());)
}

void DeviceMemory::Forget(MTL::Buffer* buffer, iree_hal_memory_type_t type, bool is_owned) {
  std::lock_guard lock(mutex_);
  if (residency_) {
    residency_->removeAllocation(buffer);
    residency_changed_ = true;
  }
  IREE_STATISTICS(if (is_owned) iree_hal_allocator_statistics_record_free(&statistics_, type,
                                                                          buffer->length());)
}

void DeviceMemory::AttachTo(MTL::CommandQueue* queue) {
  if (residency_)
    queue->addResidencySet(residency_.get());
}

void DeviceMemory::CommitResidency() {
  if (!residency_)
    return;
  std::lock_guard lock(mutex_);
  if (std::exchange(residency_changed_, false))
    residency_->commit();
}

void DeviceMemory::QueryStatistics(iree_hal_allocator_statistics_t* out_statistics) const {
  std::lock_guard lock(mutex_);
  IREE_STATISTICS(*out_statistics = statistics_;)
}

} // namespace bessemer::metal_driver
