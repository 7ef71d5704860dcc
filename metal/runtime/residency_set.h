// MTLResidencySet and its descriptor. All memory of this device is always resident; the set keeps
// its allocations alive and answers what is in it.
#pragma once

#include <mutex>
#include <unordered_map>

#include "metal/foundation/array.h"
#include "metal/foundation/error.h"
#include "metal/runtime/device_object.h"

namespace mtl {

struct ResidencySetDescriptorValues {
  objc::Ref<ns::String> label;
  UInteger initial_capacity = 0;
};

class ResidencySetDescriptor : public objc::Object, public ResidencySetDescriptorValues {
public:
  OBJC_CLASS(ResidencySetDescriptor, "MTLResidencySetDescriptor");
};

/// Thread safe. An allocation is a Resource or a Heap.
class ResidencySet : public DeviceObject {
public:
  OBJC_CLASS(ResidencySet, "BSMResidencySet");

  ResidencySet(Device* device, ResidencySetDescriptor* descriptor);

  /// Bytes of the allocations as of the last commit.
  uint64_t allocated_size() const;
  void add(objc::Object* allocation);
  void remove(objc::Object* allocation);
  void remove_all();
  /// These three see additions and removals at once, as on a Mac.
  bool contains(objc::Object* allocation) const;
  ns::Array* all() const;
  UInteger count() const;
  void commit();

private:
  mutable std::mutex mutex_;
  std::unordered_map<objc::Object*, objc::Ref<objc::Object>> allocations_;
  uint64_t size_ = 0; // of what is in the set now
  uint64_t committed_size_ = 0;
};

} // namespace mtl
