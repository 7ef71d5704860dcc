#include "drivers/metal/event.h"

#include <mutex>
#include <new>

namespace bessemer::metal_driver {
namespace {

struct Event {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  MetalPtr<MTL::Event> handle;
  mutable std::mutex mutex;
  // Each signal has a value of its own, so that command buffers can be replayed.
  uint64_t last_value = 0;
  bool is_set = false;

  static Event* From(iree_hal_event_t* base) { return reinterpret_cast<Event*>(base); }
  static const Event* From(const iree_hal_event_t* base) {
    return reinterpret_cast<const Event*>(base);
  }
};

void Destroy(iree_hal_event_t* base) {
  Event* event = Event::From(base);
  iree_allocator_t host_allocator = event->host_allocator;
  event->~Event();
  iree_allocator_free(host_allocator, event);
}

constexpr iree_hal_event_vtable_t kVtable = {Destroy};

} // namespace

iree_status_t CreateEvent(MTL::Device* device, iree_allocator_t host_allocator,
                          iree_hal_event_t** out_event) {
  static_assert(offsetof(Event, resource) == 0);
  *out_event = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(Event), &storage));
  auto* event = new (storage) Event{};
  iree_hal_resource_initialize(&kVtable, &event->resource);
  event->host_allocator = host_allocator;
  event->handle = TakeMetal(device->newEvent());
  *out_event = reinterpret_cast<iree_hal_event_t*>(event);
  return iree_ok_status();
}

void EncodeEventSignal(iree_hal_event_t* base, MTL::CommandBuffer* command_buffer) {
  Event* event = Event::From(base);
  std::lock_guard lock(event->mutex);
  command_buffer->encodeSignalEvent(event->handle.get(), ++event->last_value);
  event->is_set = true;
}

void EncodeEventReset(iree_hal_event_t* base) {
  Event* event = Event::From(base);
  std::lock_guard lock(event->mutex);
  event->is_set = false;
}

void EncodeEventWait(const iree_hal_event_t* base, MTL::CommandBuffer* command_buffer) {
  const Event* event = Event::From(base);
  std::lock_guard lock(event->mutex);
  command_buffer->encodeWait(event->handle.get(), event->last_value + (event->is_set ? 0 : 1));
}

} // namespace bessemer::metal_driver
