// MTLSharedEventHandle: what a shared event is made from again.
#pragma once

#include <memory>

#include "metal/cpu/executor/timeline.h"
#include "metal/foundation/string.h"

namespace mtl {

class SharedEventHandle : public objc::Object {
public:
  OBJC_CLASS(SharedEventHandle, "MTLSharedEventHandle");

  SharedEventHandle() = default; // of no event, for +alloc
  SharedEventHandle(std::shared_ptr<bessemer::metal::cpu::Timeline> timeline, ns::String* label);

  const std::shared_ptr<bessemer::metal::cpu::Timeline>& timeline() const { return timeline_; }
  ns::String* label() const { return label_.get(); }

private:
  std::shared_ptr<bessemer::metal::cpu::Timeline> timeline_;
  objc::Ref<ns::String> label_;
};

} // namespace mtl
