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
  /// The samples for a dispatch, or NULL when it is of no interest.
  virtual MTL::CounterSampleBuffer* Time(const DispatchCommand& dispatch,
                                         NS::UInteger* out_first_sample) = 0;
};

/// Encodes all commands of `list`, whose pipelines are ready, with the buffers that its references
/// mean now. `arguments` has room for list.argument_bytes().
iree_status_t Replay(const CommandList& list, iree_hal_buffer_binding_table_t binding_table,
                     const ArgumentArena::Block& arguments, Encoder& encoder,
                     DispatchTimer* timer = nullptr);

} // namespace bessemer::metal_driver
