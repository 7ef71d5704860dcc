// MTLFunctionDescriptor and MTLIntersectionFunctionDescriptor.
#pragma once

#include "metal/foundation/array.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/function_constant_values.h"

namespace mtl {

struct FunctionDescriptorValues {
  objc::Ref<ns::String> name;
  objc::Ref<ns::String> specialized_name;
  objc::Ref<FunctionConstantValues> constant_values;
  UInteger options = 0; // MTLFunctionOptions
  objc::Ref<ns::Array> binary_archives;
};

class FunctionDescriptor : public objc::Object, public FunctionDescriptorValues {
public:
  OBJC_CLASS(FunctionDescriptor, "MTLFunctionDescriptor");
};

class IntersectionFunctionDescriptor : public FunctionDescriptor {
public:
  OBJC_CLASS(IntersectionFunctionDescriptor, "MTLIntersectionFunctionDescriptor");
};

} // namespace mtl
