// What almost every Metal object has: the device it was made by, and a label.
#pragma once

#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/encoding.h"

namespace mtl {

class Device;

/// Base of the objects that a device makes. Answers `device`, `label` and `setLabel:`.
class DeviceObject : public objc::Object {
public:
  OBJC_CLASS(DeviceObject, "BSMDeviceObject");

  explicit DeviceObject(Device* device) : device_(device) {}

  Device* device() const { return device_; }
  /// Null when none was set.
  ns::String* label() const;
  /// Keeps a copy. Any thread.
  void set_label(ns::String* label);
  /// The label's text, or the class' name for messages.
  std::string label_text() const;

private:
  Device* device_; // devices live until the process ends
  objc::Ref<ns::String> label_;
};

} // namespace mtl
