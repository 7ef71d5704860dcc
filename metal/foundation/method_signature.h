// NSMethodSignature: the types of a method.
#pragma once

#include <string>
#include <vector>

#include "metal/foundation/types.h"

namespace ns {

class MethodSignature : public objc::Object {
public:
  OBJC_CLASS(MethodSignature, "NSMethodSignature");

  explicit MethodSignature(const char* types);

  /// Self and _cmd included.
  UInteger argument_count() const { return types_.size() - 1; }
  const char* return_type() const { return types_[0].c_str(); }
  const char* argument_type(UInteger index) const;

private:
  std::vector<std::string> types_; // the result's, then the arguments'
};

/// The end of the type encoding that starts at `type`, offsets after it not included.
const char* skip_type(const char* type);
/// Bytes of a value of the type; 0 for void and for types that cannot be measured.
size_t size_of_type(const char* type);

} // namespace ns
