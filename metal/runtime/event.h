// MTLEvent: a value that command buffers of one device wait for and raise.
#pragma once

#include <memory>

#include "metal/cpu/executor/timeline.h"
#include "metal/runtime/device_object.h"

namespace mtl {

class Event : public DeviceObject {
public:
  OBJC_CLASS(Event, "BSMEvent");

  explicit Event(Device* device);
  Event(Device* device, std::shared_ptr<bessemer::metal::cpu::Timeline> timeline);

  const std::shared_ptr<bessemer::metal::cpu::Timeline>& timeline() const { return timeline_; }

private:
  std::shared_ptr<bessemer::metal::cpu::Timeline> timeline_;
};

} // namespace mtl
