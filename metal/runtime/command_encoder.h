// MTLCommandEncoder: what compute and blit encoders have in common.
#pragma once

#include "metal/runtime/command_buffer.h"
#include "metal/runtime/counter_sample_buffer.h"
#include "metal/runtime/device_object.h"

namespace mtl {

class Buffer;
class Fence;
class SampleBufferAttachmentArray;

class CommandEncoder : public DeviceObject {
public:
  OBJC_CLASS(CommandEncoder, "BSMCommandEncoder");

  /// `samples` may be null. `name` is the protocol's, for messages.
  CommandEncoder(CommandBuffer* buffer, const char* name, SampleBufferAttachmentArray* samples);
  ~CommandEncoder();

  void end_encoding();

protected:
  /// Whether commands may be recorded; reports the call when the encoder has ended. `method` is the
  /// selector.
  bool records(const char* method) {
    if (!ended_ && buffer_->accepts_commands()) [[likely]]
      return true;
    report_closed(method);
    return false;
  }
  /// Reports wrong use and makes the command buffer fail.
  [[gnu::format(printf, 3, 4)]] void misused(const char* method, const char* format, ...);
  /// Orders what follows after what was recorded.
  void barrier() { list().barrier(); }
  bessemer::metal::cpu::CommandList& list() { return buffer_->list(); }
  CommandBuffer* buffer() const { return buffer_.get(); }

  void sample_counters(const char* method, CounterSampleBuffer* samples, UInteger index);
  void check_fence(const char* method, Fence* fence);
  /// Whether [offset, offset + size) lies in the buffer; reports it if not.
  bool check_range(const char* method, const char* what, Buffer* buffer, UInteger offset,
                   UInteger size);

private:
  void report_closed(const char* method);
  void record_sample(CounterSampleBuffer* samples, UInteger index);

  objc::Ref<CommandBuffer> buffer_;
  const char* name_;
  objc::Ref<SampleBufferAttachmentArray> samples_;
  bool ended_ = false;
  bool reported_closed_ = false;
};

} // namespace mtl
