#include "metal/runtime/device_object.h"

#include <mutex>

#include "metal/runtime/device.h"

namespace mtl {

namespace {

// Labels are set and read rarely, so one lock guards all of them.
std::mutex& label_mutex() {
  static constinit std::mutex mutex;
  return mutex;
}

} // namespace

ns::String* DeviceObject::label() const {
  std::lock_guard lock(label_mutex());
  return objc::retain_autorelease(label_.get());
}

void DeviceObject::set_label(ns::String* label) {
  objc::Ref<ns::String> replaced = ns::copy(label);
  std::lock_guard lock(label_mutex());
  std::swap(label_, replaced);
}

std::string DeviceObject::label_text() const {
  std::lock_guard lock(label_mutex());
  return label_ ? std::string(ns::utf8(label_.get())) : std::string();
}

OBJC_DEFINE_CLASS(DeviceObject, "BSMDeviceObject", objc::Object,
                  .methods = {
                      objc::method<&DeviceObject::device>("device"),
                      objc::method<&DeviceObject::label>("label"),
                      objc::method<&DeviceObject::set_label>("setLabel:"),
                  });

} // namespace mtl
