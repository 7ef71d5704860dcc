// Answers for what a device that only computes does not have: nil, with a message on stderr, and
// with an NSError where the method can give one.
#pragma once

#include "metal/foundation/error.h"
#include "metal/objc/block.h"
#include "metal/runtime/device.h"

namespace mtl {

/// An error that says "<selector>: this device computes only: it has no <what>".
objc::Ref<ns::Error> unsupported_error(const char* selector, const char* what);
void report_unsupported(const char* selector, const char* what);

/// What registered selectors are given to: `Selector` and `What` for the message, R and Arguments
/// as the method has them.
template <ns::LiteralText Selector, ns::LiteralText What, class R, class... Arguments>
R unsupported(Device*, Arguments...) {
  report_unsupported(Selector.text, What.text);
  if constexpr (!std::is_void_v<R>)
    return R{};
}

/// The same for methods that end in `error:`.
template <ns::LiteralText Selector, ns::LiteralText What, class... Arguments>
objc::Object* unsupported_with_error(Device*, Arguments..., ns::Error** error) {
  ns::set_error(error, unsupported_error(Selector.text, What.text));
  return nullptr;
}

/// The same for methods that end in `completionHandler:`, whose block takes Results.
template <ns::LiteralText Selector, ns::LiteralText What, class... Results>
struct UnsupportedHandler {
  template <class... Arguments>
  static void call(Device* device, Arguments...,
                   objc::Block<void(Results..., ns::Error*)>* handler) {
    device->executor().notify([handler = objc::BlockRef<void(Results..., ns::Error*)>(handler)] {
      objc::AutoreleaseScope scope;
      handler(Results{}..., unsupported_error(Selector.text, What.text).autorelease());
    });
  }
};

} // namespace mtl
