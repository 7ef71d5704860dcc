// MTLArchitecture: the name of the GPU's kind.
#pragma once

#include "metal/foundation/string.h"

namespace mtl {

class Device;

class Architecture : public objc::Object {
public:
  OBJC_CLASS(Architecture, "MTLArchitecture");

  static Architecture* of(Device* device);

  Architecture() = default; // without a name, for +alloc
  explicit Architecture(objc::Ref<ns::String> name) : name_(std::move(name)) {}
  ns::String* name() const { return name_.get(); }

private:
  objc::Ref<ns::String> name_;
};

} // namespace mtl
