// NSEnumerator over objects already collected.
#pragma once

#include <vector>

#include "metal/foundation/types.h"

namespace ns {

class Enumerator : public objc::Object {
public:
  OBJC_CLASS(Enumerator, "NSEnumerator");

  Enumerator() = default;
  Enumerator(Object* owner, std::vector<Ref<Object>> objects)
      : owner_(owner), objects_(std::move(objects)) {}

  /// Null at the end.
  Object* next();
  UInteger enumerate(FastEnumerationState* state, Object** buffer, UInteger capacity);
  std::vector<Ref<Object>> rest();

private:
  Ref<Object> owner_;
  std::vector<Ref<Object>> objects_;
  size_t at_ = 0;
};

} // namespace ns
