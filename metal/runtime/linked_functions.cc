#include "metal/runtime/linked_functions.h"

#include "metal/runtime/property.h"

namespace mtl {
namespace {

using P = Properties<LinkedFunctions, LinkedFunctionsValues>;
using L = LinkedFunctions;

LinkedFunctions* make(objc::Class*) { return objc::make<LinkedFunctions>().autorelease(); }

} // namespace

OBJC_DEFINE_CLASS(LinkedFunctions, "MTLLinkedFunctions", objc::Object,
                  .methods =
                      {
                          objc::method<&P::get<&L::functions>>("functions"),
                          objc::method<&P::set<&L::functions>>("setFunctions:"),
                          objc::method<&P::get<&L::binary_functions>>("binaryFunctions"),
                          objc::method<&P::set<&L::binary_functions>>("setBinaryFunctions:"),
                          objc::method<&P::get<&L::groups>>("groups"),
                          objc::method<&P::set<&L::groups>>("setGroups:"),
                          objc::method<&P::get<&L::private_functions>>("privateFunctions"),
                          objc::method<&P::set<&L::private_functions>>("setPrivateFunctions:"),
                          objc::method<&P::copy>("copyWithZone:"),
                      },
                  .class_methods = {objc::method<&make>("linkedFunctions")},
                  .protocols = {"NSCopying"});

} // namespace mtl
