// MTLCaptureManager, MTLCaptureDescriptor and MTLCaptureScope. There is no tool that reads captures
// on this device: starting one is an error, as it is on a Mac where captures are not enabled.
#pragma once

#include <mutex>

#include "metal/foundation/error.h"
#include "metal/foundation/url.h"
#include "metal/runtime/device_object.h"
#include "metal/runtime/types.h"

namespace mtl {

class CommandQueue;

struct CaptureDescriptorValues {
  objc::Ref<objc::Object> capture_object;
  CaptureDestination destination = CaptureDestination::DeveloperTools;
  objc::Ref<ns::URL> output_url;
};

class CaptureDescriptor : public objc::Object, public CaptureDescriptorValues {
public:
  OBJC_CLASS(CaptureDescriptor, "MTLCaptureDescriptor");
};

class CaptureScope : public DeviceObject {
public:
  OBJC_CLASS(CaptureScope, "BSMCaptureScope");

  CaptureScope(Device* device, CommandQueue* queue) : DeviceObject(device), queue_(queue) {}
  /// Null when the scope is a device's.
  CommandQueue* command_queue() const { return queue_.get(); }
  void begin() {}
  void end() {}

private:
  objc::Ref<CommandQueue> queue_;
};

class CaptureManager : public objc::Object {
public:
  OBJC_CLASS(CaptureManager, "MTLCaptureManager");
  static CaptureManager* shared(objc::Class*);

  CaptureScope* new_scope_with_device(Device* device);
  CaptureScope* new_scope_with_queue(CommandQueue* queue);
  bool supports_destination(CaptureDestination) { return false; }
  /// Always false: CaptureError NotSupported, or InvalidDescriptor for a descriptor that is wrong.
  bool start(CaptureDescriptor* descriptor, ns::Error** error);
  CaptureScope* default_scope();
  void set_default_scope(CaptureScope* scope);

private:
  std::mutex mutex_;
  objc::Ref<CaptureScope> default_scope_;
};

} // namespace mtl
