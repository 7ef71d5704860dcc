#include "metal/runtime/command_buffer_descriptor.h"

#include "metal/runtime/property.h"

namespace mtl {

using Descriptor = CommandBufferDescriptor;
using P = Properties<Descriptor, CommandBufferDescriptorValues>;

OBJC_DEFINE_CLASS(
    CommandBufferDescriptor, "MTLCommandBufferDescriptor", objc::Object,
    .methods = {
        objc::method<&P::get<&Descriptor::retained_references>>("retainedReferences"),
        objc::method<&P::set<&Descriptor::retained_references>>("setRetainedReferences:"),
        objc::method<&P::get<&Descriptor::error_options>>("errorOptions"),
        objc::method<&P::set<&Descriptor::error_options>>("setErrorOptions:"),
        objc::method<&P::get<&Descriptor::log_state>>("logState"),
        objc::method<&P::set<&Descriptor::log_state>>("setLogState:"),
        objc::method<&P::copy>("copyWithZone:"),
    });

} // namespace mtl
