#include "metal/runtime/shared_event_handle.h"

namespace mtl {

SharedEventHandle::SharedEventHandle(std::shared_ptr<bessemer::metal::cpu::Timeline> timeline,
                                     ns::String* label)
    : timeline_(std::move(timeline)), label_(ns::copy(label)) {}

OBJC_DEFINE_CLASS(SharedEventHandle, "MTLSharedEventHandle", objc::Object,
                  .methods = {objc::method<&SharedEventHandle::label>("label")});

} // namespace mtl
