#include "metal/runtime/event.h"

#include "metal/runtime/device.h"

namespace mtl {

using bessemer::metal::cpu::Timeline;

Event::Event(Device* device) : Event(device, Timeline::create(device->executor())) {}

Event::Event(Device* device, std::shared_ptr<Timeline> timeline)
    : DeviceObject(device), timeline_(std::move(timeline)) {}

OBJC_DEFINE_CLASS(Event, "BSMEvent", DeviceObject, .protocols = {"MTLEvent"});

} // namespace mtl
