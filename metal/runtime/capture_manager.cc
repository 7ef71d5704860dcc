#include "metal/runtime/capture_manager.h"

#include "metal/runtime/command_queue.h"
#include "metal/runtime/constants.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/property.h"

namespace mtl {

CaptureManager* CaptureManager::shared(objc::Class*) {
  static CaptureManager* const manager = objc::make<CaptureManager>().take();
  return manager;
}

CaptureScope* CaptureManager::new_scope_with_device(Device* device) {
  return objc::make<CaptureScope>(device, nullptr).take();
}

CaptureScope* CaptureManager::new_scope_with_queue(CommandQueue* queue) {
  if (!queue) {
    report_misuse("MTLCaptureManager newCaptureScopeWithCommandQueue:", "commandQueue is null");
    return nullptr;
  }
  return objc::make<CaptureScope>(queue->device(), queue).take();
}

bool CaptureManager::start(CaptureDescriptor* descriptor, ns::Error** error) {
  CaptureError code = CaptureError::NotSupported;
  const char* text = "this device has no tool that records captures";
  if (!descriptor || !descriptor->capture_object) {
    code = CaptureError::InvalidDescriptor;
    text = "the capture descriptor has no captureObject";
  } else if (descriptor->destination == CaptureDestination::GPUTraceDocument &&
             !descriptor->output_url) {
    code = CaptureError::InvalidDescriptor;
    text = "a capture to a document needs an outputURL";
  }
  ns::set_error(error, ns::error(MTLCaptureErrorDomain, Integer(code), text));
  return false;
}

CaptureScope* CaptureManager::default_scope() {
  std::lock_guard lock(mutex_);
  return objc::retain_autorelease(default_scope_.get());
}

void CaptureManager::set_default_scope(CaptureScope* scope) {
  objc::Ref<CaptureScope> replaced(scope);
  std::lock_guard lock(mutex_);
  std::swap(default_scope_, replaced);
}

namespace {

void refuse_start(const char* where) {
  report_misuse(where, "this device has no tool that records captures");
}
void start_with_device(CaptureManager*, Device*) {
  refuse_start("MTLCaptureManager startCaptureWithDevice:");
}
void start_with_queue(CaptureManager*, CommandQueue*) {
  refuse_start("MTLCaptureManager startCaptureWithCommandQueue:");
}
void start_with_scope(CaptureManager*, CaptureScope*) {
  refuse_start("MTLCaptureManager startCaptureWithScope:");
}
void stop(CaptureManager*) {}
bool is_capturing(CaptureManager*) { return false; }

using D = CaptureDescriptor;
using P = Properties<D, CaptureDescriptorValues>;

} // namespace

OBJC_DEFINE_CLASS(CaptureDescriptor, "MTLCaptureDescriptor", objc::Object,
                  .methods = {
                      objc::method<&P::get<&D::capture_object>>("captureObject"),
                      objc::method<&P::set<&D::capture_object>>("setCaptureObject:"),
                      objc::method<&P::get<&D::destination>>("destination"),
                      objc::method<&P::set<&D::destination>>("setDestination:"),
                      objc::method<&P::get<&D::output_url>>("outputURL"),
                      objc::method<&P::set<&D::output_url>>("setOutputURL:"),
                      objc::method<&P::copy>("copyWithZone:"),
                  });

OBJC_DEFINE_CLASS(CaptureScope, "BSMCaptureScope", DeviceObject,
                  .methods =
                      {
                          objc::method<&CaptureScope::command_queue>("commandQueue"),
                          objc::method<&CaptureScope::begin>("beginScope"),
                          objc::method<&CaptureScope::end>("endScope"),
                      },
                  .protocols = {"MTLCaptureScope"});

OBJC_DEFINE_CLASS(
    CaptureManager, "MTLCaptureManager", objc::Object,
    .methods =
        {
            objc::method<&CaptureManager::new_scope_with_device>("newCaptureScopeWithDevice:"),
            objc::method<&CaptureManager::new_scope_with_queue>("newCaptureScopeWithCommandQueue:"),
            objc::method<&CaptureManager::supports_destination>("supportsDestination:"),
            objc::method<&CaptureManager::start>("startCaptureWithDescriptor:error:"),
            objc::method<&start_with_device>("startCaptureWithDevice:"),
            objc::method<&start_with_queue>("startCaptureWithCommandQueue:"),
            objc::method<&start_with_scope>("startCaptureWithScope:"),
            objc::method<&stop>("stopCapture"),
            objc::method<&is_capturing>("isCapturing"),
            objc::method<&CaptureManager::default_scope>("defaultCaptureScope"),
            objc::method<&CaptureManager::set_default_scope>("setDefaultCaptureScope:"),
        },
    .class_methods = {objc::method<&CaptureManager::shared>("sharedCaptureManager")});

} // namespace mtl
