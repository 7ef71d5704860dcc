// MTLFence: orders encoders of one queue. A queue runs its encoders one after the other, each
// seeing all that was written before, so that updating and waiting need no action.
#pragma once

#include "metal/runtime/device_object.h"

namespace mtl {

class Fence : public DeviceObject {
public:
  OBJC_CLASS(Fence, "BSMFence");
  using DeviceObject::DeviceObject;
};

} // namespace mtl
