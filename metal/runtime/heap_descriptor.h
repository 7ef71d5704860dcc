// MTLHeapDescriptor.
#pragma once

#include "metal/objc/class.h"
#include "metal/runtime/types.h"

namespace mtl {

struct HeapDescriptorValues {
  UInteger size_ = 0;
  StorageMode storage_mode_ = StorageMode::Private;
  CPUCacheMode cpu_cache_mode_ = CPUCacheMode::DefaultCache;
  HazardTrackingMode hazard_tracking_mode_ = HazardTrackingMode::Default;
  HeapType type_ = HeapType::Automatic;
  Integer sparse_page_size_ = 101; // MTLSparsePageSize16
};

class HeapDescriptor : public objc::Object, public HeapDescriptorValues {
public:
  OBJC_CLASS(HeapDescriptor, "MTLHeapDescriptor");

  UInteger size() const { return size_; }
  HeapType type() const { return type_; }
  ResourceOptions resource_options() const {
    return ResourceOptions::make(cpu_cache_mode_, storage_mode_, hazard_tracking_mode_);
  }
  /// Sets storage, cache and hazard tracking modes at once.
  void set_resource_options(ResourceOptions options);
};

} // namespace mtl
