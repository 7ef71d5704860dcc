// MTLLinkedFunctions: functions that a pipeline may call through pointers.
#pragma once

#include "metal/foundation/array.h"
#include "metal/foundation/dictionary.h"
#include "metal/objc/class.h"

namespace mtl {

struct LinkedFunctionsValues {
  objc::Ref<ns::Array> functions;
  objc::Ref<ns::Array> binary_functions;
  objc::Ref<ns::Dictionary> groups;
  objc::Ref<ns::Array> private_functions;
};

class LinkedFunctions : public objc::Object, public LinkedFunctionsValues {
public:
  OBJC_CLASS(LinkedFunctions, "MTLLinkedFunctions");

  bool empty() const {
    return !(functions && functions->count()) && !(binary_functions && binary_functions->count()) &&
           !(private_functions && private_functions->count());
  }
};

} // namespace mtl
