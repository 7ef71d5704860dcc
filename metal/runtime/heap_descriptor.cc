#include "metal/runtime/heap_descriptor.h"

#include "metal/runtime/encoding.h"
#include "metal/runtime/property.h"

namespace mtl {

void HeapDescriptor::set_resource_options(ResourceOptions options) {
  cpu_cache_mode_ = options.cache_mode();
  storage_mode_ = options.storage_mode();
  hazard_tracking_mode_ = options.hazard_mode();
}

using P = Properties<HeapDescriptor, HeapDescriptorValues>;

OBJC_DEFINE_CLASS(
    HeapDescriptor, "MTLHeapDescriptor", objc::Object,
    .methods = {
        objc::method<&P::get<&HeapDescriptor::size_>>("size"),
        objc::method<&P::set<&HeapDescriptor::size_>>("setSize:"),
        objc::method<&P::get<&HeapDescriptor::storage_mode_>>("storageMode"),
        objc::method<&P::set<&HeapDescriptor::storage_mode_>>("setStorageMode:"),
        objc::method<&P::get<&HeapDescriptor::cpu_cache_mode_>>("cpuCacheMode"),
        objc::method<&P::set<&HeapDescriptor::cpu_cache_mode_>>("setCpuCacheMode:"),
        objc::method<&P::get<&HeapDescriptor::hazard_tracking_mode_>>("hazardTrackingMode"),
        objc::method<&P::set<&HeapDescriptor::hazard_tracking_mode_>>("setHazardTrackingMode:"),
        objc::method<&P::get<&HeapDescriptor::type_>>("type"),
        objc::method<&P::set<&HeapDescriptor::type_>>("setType:"),
        objc::method<&P::get<&HeapDescriptor::sparse_page_size_>>("sparsePageSize"),
        objc::method<&P::set<&HeapDescriptor::sparse_page_size_>>("setSparsePageSize:"),
        objc::method<&HeapDescriptor::resource_options>("resourceOptions"),
        objc::method<&HeapDescriptor::set_resource_options>("setResourceOptions:"),
        objc::method<&P::copy>("copyWithZone:"),
    });

} // namespace mtl
