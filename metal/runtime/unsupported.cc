#include "metal/runtime/unsupported.h"

#include "metal/runtime/misuse.h"

namespace mtl {

objc::Ref<ns::Error> unsupported_error(const char* selector, const char* what) {
  return ns::error(ns::literal<"BSMDeviceErrorDomain">(), 1,
                   misuse_text((std::string("MTLDevice ") + selector).c_str(),
                               "this device computes only: it has no %s", what));
}

void report_unsupported(const char* selector, const char* what) {
  report_misuse((std::string("MTLDevice ") + selector).c_str(),
                "this device computes only: it has no %s", what);
}

} // namespace mtl
