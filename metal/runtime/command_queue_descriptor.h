// MTLCommandQueueDescriptor.
#pragma once

#include "metal/objc/class.h"
#include "metal/runtime/log_state.h"
#include "metal/runtime/types.h"

namespace mtl {

struct CommandQueueDescriptorValues {
  UInteger max_command_buffer_count = 64;
  objc::Ref<LogState> log_state;
};

class CommandQueueDescriptor : public objc::Object, public CommandQueueDescriptorValues {
public:
  OBJC_CLASS(CommandQueueDescriptor, "MTLCommandQueueDescriptor");
};

} // namespace mtl
