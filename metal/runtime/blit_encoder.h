// MTLBlitCommandEncoder: copies and fills of buffers, of any alignment and length.
#pragma once

#include "metal/runtime/buffer.h"
#include "metal/runtime/command_encoder.h"

namespace mtl {

class IndirectCommandBuffer;

class BlitEncoder : public CommandEncoder {
public:
  OBJC_CLASS(BlitEncoder, "BSMBlitCommandEncoder");

  BlitEncoder(CommandBuffer* buffer, SampleBufferAttachmentArray* samples);

  void fill(Buffer* buffer, Range range, uint8_t value);
  /// Source and target must not overlap.
  void copy(Buffer* source, UInteger source_offset, Buffer* target, UInteger target_offset,
            UInteger size);
  void update_fence(Fence* fence);
  void wait_for_fence(Fence* fence);

  void reset_commands(IndirectCommandBuffer* commands, Range range);
  void copy_commands(IndirectCommandBuffer* source, Range range, IndirectCommandBuffer* target,
                     UInteger index);

  void sample_counters_in_buffer(CounterSampleBuffer* samples, UInteger index, bool barrier);
  /// Writes a 64-bit number of nanoseconds for each sample.
  void resolve_counters(CounterSampleBuffer* samples, Range range, Buffer* target,
                        UInteger target_offset);

  /// For methods whose subject this device does not have.
  void refuse(const char* method, const char* what);

private:
  /// Appends a function of `context`'s type to the list; Context is copied.
  template <class Context>
  void record_function(const Context& context);
};

} // namespace mtl
