#include "metal/runtime/fence.h"

namespace mtl {

OBJC_DEFINE_CLASS(Fence, "BSMFence", DeviceObject, .protocols = {"MTLFence"});

} // namespace mtl
