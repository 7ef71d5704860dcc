#include "metal/runtime/residency_set.h"

#include "metal/objc/message.h"
#include "metal/runtime/property.h"

namespace mtl {

namespace {

// The same for an allocation's whole life.
uint64_t size_of(objc::Object* allocation) {
  return objc::send<uint64_t, "allocatedSize">(allocation);
}

} // namespace

ResidencySet::ResidencySet(Device* device, ResidencySetDescriptor* descriptor)
    : DeviceObject(device) {
  if (!descriptor)
    return;
  set_label(descriptor->label.get());
  allocations_.reserve(std::min<UInteger>(descriptor->initial_capacity, 1 << 20));
}

uint64_t ResidencySet::allocated_size() const {
  std::lock_guard lock(mutex_);
  return committed_size_;
}

void ResidencySet::add(objc::Object* allocation) {
  if (!allocation)
    return;
  uint64_t size = size_of(allocation);
  std::lock_guard lock(mutex_);
  if (allocations_.try_emplace(allocation, objc::Ref<objc::Object>(allocation)).second)
    size_ += size;
}

void ResidencySet::remove(objc::Object* allocation) {
  // Released outside the lock: the last reference may run a client's deallocator.
  objc::Ref<objc::Object> removed;
  std::lock_guard lock(mutex_);
  if (auto it = allocations_.find(allocation); it != allocations_.end()) {
    removed = std::move(it->second);
    allocations_.erase(it);
    size_ -= size_of(allocation);
  }
}

void ResidencySet::remove_all() {
  decltype(allocations_) removed;
  std::lock_guard lock(mutex_);
  removed.swap(allocations_);
  size_ = 0;
}

bool ResidencySet::contains(objc::Object* allocation) const {
  std::lock_guard lock(mutex_);
  return allocations_.contains(allocation);
}

ns::Array* ResidencySet::all() const {
  std::lock_guard lock(mutex_);
  std::vector<objc::Object*> pointers;
  for (const auto& [pointer, reference] : allocations_)
    pointers.push_back(pointer);
  return ns::array(std::span<objc::Object* const>(pointers)).autorelease();
}

UInteger ResidencySet::count() const {
  std::lock_guard lock(mutex_);
  return allocations_.size();
}

void ResidencySet::commit() {
  std::lock_guard lock(mutex_);
  committed_size_ = size_;
}

namespace {

void request_residency(ResidencySet*) {}
void end_residency(ResidencySet*) {}
void add_allocations(ResidencySet* set, objc::Object* const* allocations, UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    set->add(allocations[i]);
}
void remove_allocations(ResidencySet* set, objc::Object* const* allocations, UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    set->remove(allocations[i]);
}

using D = ResidencySetDescriptor;
using P = Properties<D, ResidencySetDescriptorValues>;

} // namespace

OBJC_DEFINE_CLASS(ResidencySetDescriptor, "MTLResidencySetDescriptor", objc::Object,
                  .methods = {
                      objc::method<&P::get<&D::label>>("label"),
                      objc::method<&P::set<&D::label>>("setLabel:"),
                      objc::method<&P::get<&D::initial_capacity>>("initialCapacity"),
                      objc::method<&P::set<&D::initial_capacity>>("setInitialCapacity:"),
                      objc::method<&P::copy>("copyWithZone:"),
                  });

OBJC_DEFINE_CLASS(ResidencySet, "BSMResidencySet", DeviceObject,
                  .methods =
                      {
                          objc::method<&ResidencySet::allocated_size>("allocatedSize"),
                          objc::method<&request_residency>("requestResidency"),
                          objc::method<&end_residency>("endResidency"),
                          objc::method<&ResidencySet::add>("addAllocation:"),
                          objc::method<&add_allocations>("addAllocations:count:"),
                          objc::method<&ResidencySet::remove>("removeAllocation:"),
                          objc::method<&remove_allocations>("removeAllocations:count:"),
                          objc::method<&ResidencySet::remove_all>("removeAllAllocations"),
                          objc::method<&ResidencySet::contains>("containsAllocation:"),
                          objc::method<&ResidencySet::all>("allAllocations"),
                          objc::method<&ResidencySet::count>("allocationCount"),
                          objc::method<&ResidencySet::commit>("commit"),
                      },
                  .protocols = {"MTLResidencySet"});

} // namespace mtl
