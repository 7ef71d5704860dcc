// MTLCommandBufferDescriptor.
#pragma once

#include "metal/objc/class.h"
#include "metal/runtime/log_state.h"
#include "metal/runtime/types.h"

namespace mtl {

struct CommandBufferDescriptorValues {
  bool retained_references = true;
  UInteger error_options = 0; // kCommandBufferErrorOption...
  objc::Ref<LogState> log_state;
};

class CommandBufferDescriptor : public objc::Object, public CommandBufferDescriptorValues {
public:
  OBJC_CLASS(CommandBufferDescriptor, "MTLCommandBufferDescriptor");
};

} // namespace mtl
