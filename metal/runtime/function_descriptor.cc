#include "metal/runtime/function_descriptor.h"

#include "metal/objc/message.h"
#include "metal/runtime/encoding.h"
#include "metal/runtime/property.h"

namespace mtl {
namespace {

using P = Properties<FunctionDescriptor, FunctionDescriptorValues>;
using I = Properties<IntersectionFunctionDescriptor, FunctionDescriptorValues>;
using F = FunctionDescriptor;

objc::Object* make(objc::Class* cls) {
  return objc::objc_autorelease(objc::send<objc::Object*, "new">(cls));
}

} // namespace

OBJC_DEFINE_CLASS(FunctionDescriptor, "MTLFunctionDescriptor", objc::Object,
                  .methods =
                      {
                          objc::method<&P::get<&F::name>>("name"),
                          objc::method<&P::set<&F::name>>("setName:"),
                          objc::method<&P::get<&F::specialized_name>>("specializedName"),
                          objc::method<&P::set<&F::specialized_name>>("setSpecializedName:"),
                          objc::method<&P::get<&F::constant_values>>("constantValues"),
                          objc::method<&P::set<&F::constant_values>>("setConstantValues:"),
                          objc::method<&P::get<&F::options>>("options"),
                          objc::method<&P::set<&F::options>>("setOptions:"),
                          objc::method<&P::get<&F::binary_archives>>("binaryArchives"),
                          objc::method<&P::set<&F::binary_archives>>("setBinaryArchives:"),
                          objc::method<&P::copy>("copyWithZone:"),
                      },
                  .class_methods = {objc::method<&make>("functionDescriptor")},
                  .protocols = {"NSCopying"});

OBJC_DEFINE_CLASS(IntersectionFunctionDescriptor, "MTLIntersectionFunctionDescriptor",
                  FunctionDescriptor, .methods = {objc::method<&I::copy>("copyWithZone:")});

} // namespace mtl
