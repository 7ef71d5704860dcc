#include "metal/runtime/command_queue_descriptor.h"

#include "metal/runtime/property.h"

namespace mtl {

using Descriptor = CommandQueueDescriptor;
using P = Properties<Descriptor, CommandQueueDescriptorValues>;

OBJC_DEFINE_CLASS(
    CommandQueueDescriptor, "MTLCommandQueueDescriptor", objc::Object,
    .methods = {
        objc::method<&P::get<&Descriptor::max_command_buffer_count>>("maxCommandBufferCount"),
        objc::method<&P::set<&Descriptor::max_command_buffer_count>>("setMaxCommandBufferCount:"),
        objc::method<&P::get<&Descriptor::log_state>>("logState"),
        objc::method<&P::set<&Descriptor::log_state>>("setLogState:"),
        objc::method<&P::copy>("copyWithZone:"),
    });

} // namespace mtl
