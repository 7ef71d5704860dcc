#include "metal/runtime/architecture.h"

#include "metal/runtime/device.h"

namespace mtl {

Architecture* Architecture::of(Device* device) {
  static Architecture* const architecture =
      objc::make<Architecture>(ns::string(device->family().architecture())).take();
  return architecture;
}

namespace {

Architecture* copy(Architecture* self, void* /*zone*/) {
  return objc::Ref<Architecture>(self).take();
}

} // namespace

OBJC_DEFINE_CLASS(Architecture, "MTLArchitecture", objc::Object,
                  .methods = {
                      objc::method<&Architecture::name>("name"),
                      objc::method<&copy>("copyWithZone:"),
                  });

} // namespace mtl
