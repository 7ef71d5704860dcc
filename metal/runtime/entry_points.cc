// The C functions by which clients come to a device.
#include "metal/foundation/array.h"
#include "metal/objc/block.h"
#include "metal/runtime/device.h"

#define BESSEMER_EXPORT extern "C" [[gnu::visibility("default"), gnu::used]]

namespace mtl {
namespace {

// Devices never come or go: what a client gets to hand back.
class DeviceObserver : public objc::Object {
public:
  OBJC_CLASS(DeviceObserver, "BSMDeviceObserver");
};

OBJC_DEFINE_CLASS(DeviceObserver, "BSMDeviceObserver", objc::Object);

using ObserverBlock = objc::Block<void(Device*, ns::String*)>;

} // namespace

BESSEMER_EXPORT Device* MTLCreateSystemDefaultDevice() {
  return objc::Ref<Device>(Device::shared()).take();
}

BESSEMER_EXPORT ns::Array* MTLCopyAllDevices() {
  objc::Object* device = Device::shared();
  return ns::array(std::span<objc::Object* const>(&device, 1)).take();
}

BESSEMER_EXPORT ns::Array* MTLCopyAllDevicesWithObserver(objc::Object** observer, ObserverBlock*) {
  static DeviceObserver* const shared = objc::make<DeviceObserver>().take();
  if (observer)
    *observer = objc::Ref<DeviceObserver>(shared).take();
  return MTLCopyAllDevices();
}

BESSEMER_EXPORT void MTLRemoveDeviceObserver(objc::Object*) {}

} // namespace mtl
