#include "metal/runtime/resource.h"

namespace mtl {

Resource::Resource(Device* device, ResourceOptions options, UInteger allocated_size)
    : DeviceObject(device), options_(options), allocated_size_(allocated_size) {}

PurgeableState Resource::set_purgeable_state(PurgeableState state) {
  if (state == PurgeableState::KeepCurrent)
    return purgeable_state_.load(std::memory_order_relaxed);
  return purgeable_state_.exchange(state, std::memory_order_relaxed);
}

namespace {

int set_owner(Resource*, uint32_t) { return 0; } // one process, one owner

} // namespace

OBJC_DEFINE_CLASS(Resource, "BSMResource", DeviceObject,
                  .methods =
                      {
                          objc::method<&Resource::cpu_cache_mode>("cpuCacheMode"),
                          objc::method<&Resource::storage_mode>("storageMode"),
                          objc::method<&Resource::hazard_tracking_mode>("hazardTrackingMode"),
                          objc::method<&Resource::resource_options>("resourceOptions"),
                          objc::method<&Resource::set_purgeable_state>("setPurgeableState:"),
                          objc::method<&Resource::allocated_size>("allocatedSize"),
                          objc::method<&set_owner>("setOwnerWithIdentity:"),
                      },
                  .protocols = {"MTLResource", "MTLAllocation"});

} // namespace mtl
