// Replays command lists into Metal command buffers.
#pragma once

#include "drivers/metal/argument_arena.h"
#include "drivers/metal/command_list.h"
#include "drivers/metal/encoder.h"

namespace bessemer::metal_driver {

/// Chooses dispatches whose time is taken.
class DispatchTimer {
public:
  virtual ~DispatchTimer() = default;
  /// The pass to encode a dispatch in, alone, or NULL when it may share one with others.
  virtual MetalPtr<MTL::ComputePassDescriptor> NewPass(const DispatchCommand& dispatch) = 0;
};

/// Encodes all commands of `list`, whose pipelines are ready, with the buffers that its references
/// mean now. `arguments` has room for list.argument_bytes().
iree_status_t Replay(const CommandList& list, iree_hal_buffer_binding_table_t binding_table,
                     const ArgumentArena::Block& arguments, Encoder& encoder,
                     DispatchTimer* timer = nullptr);

} // namespace bessemer::metal_driver
