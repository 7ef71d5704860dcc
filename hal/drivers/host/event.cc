#include "hal/drivers/host/event.h"

#include <atomic>
#include <new>

namespace bessemer::hal::host {
namespace {

struct HostEvent {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  std::atomic<bool> signaled{false};
};

void destroy(iree_hal_event_t* base) {
  auto* event = reinterpret_cast<HostEvent*>(base);
  iree_allocator_t hostAllocator = event->hostAllocator;
  event->~HostEvent();
  iree_allocator_free(hostAllocator, event);
}

const iree_hal_event_vtable_t kVtable = {.destroy = destroy};

} // namespace

iree_status_t createEvent(iree_allocator_t hostAllocator, iree_hal_event_t** out_event) {
  *out_event = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(hostAllocator, sizeof(HostEvent), &storage));
  auto* event = new (storage) HostEvent();
  iree_hal_resource_initialize(&kVtable, &event->resource);
  event->hostAllocator = hostAllocator;
  *out_event = reinterpret_cast<iree_hal_event_t*>(event);
  return iree_ok_status();
}

void setEvent(iree_hal_event_t* event, bool signaled) {
  reinterpret_cast<HostEvent*>(event)->signaled.store(signaled);
}

bool isEventSet(const iree_hal_event_t* event) {
  return reinterpret_cast<const HostEvent*>(event)->signaled.load();
}

} // namespace bessemer::hal::host
