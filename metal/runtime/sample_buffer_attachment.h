// MTLComputePassSampleBufferAttachmentDescriptor, MTLBlitPassSampleBufferAttachmentDescriptor and
// their arrays: where an encoder writes the time of its start and end.
#pragma once

#include <array>

#include "metal/runtime/counter_sample_buffer.h"

namespace mtl {

struct SampleBufferAttachmentValues {
  objc::Ref<CounterSampleBuffer> sample_buffer;
  UInteger start_index = kCounterDontSample; // startOfEncoderSampleIndex
  UInteger end_index = kCounterDontSample;   // endOfEncoderSampleIndex
};

class SampleBufferAttachment : public objc::Object, public SampleBufferAttachmentValues {
public:
  OBJC_CLASS(SampleBufferAttachment, "BSMPassSampleBufferAttachmentDescriptor");
};

/// Subclasses by name only; the arrays make these.
class ComputePassSampleBufferAttachment : public SampleBufferAttachment {
public:
  OBJC_CLASS(ComputePassSampleBufferAttachment, "MTLComputePassSampleBufferAttachmentDescriptor");
};
class BlitPassSampleBufferAttachment : public SampleBufferAttachment {
public:
  OBJC_CLASS(BlitPassSampleBufferAttachment, "MTLBlitPassSampleBufferAttachmentDescriptor");
};

/// Four attachments, always there.
class SampleBufferAttachmentArray : public objc::Object {
public:
  OBJC_CLASS(SampleBufferAttachmentArray, "BSMPassSampleBufferAttachmentDescriptorArray");
  static constexpr UInteger kCount = 4;

  /// Null, with a message, past the end.
  SampleBufferAttachment* at(UInteger index) const;
  /// Copies the attachment; null resets it.
  void set(SampleBufferAttachment* attachment, UInteger index);

protected:
  std::array<objc::Ref<SampleBufferAttachment>, kCount> attachments_;
};

class ComputePassSampleBufferAttachmentArray : public SampleBufferAttachmentArray {
public:
  OBJC_CLASS(ComputePassSampleBufferAttachmentArray,
             "MTLComputePassSampleBufferAttachmentDescriptorArray");
  ComputePassSampleBufferAttachmentArray();
};
class BlitPassSampleBufferAttachmentArray : public SampleBufferAttachmentArray {
public:
  OBJC_CLASS(BlitPassSampleBufferAttachmentArray,
             "MTLBlitPassSampleBufferAttachmentDescriptorArray");
  BlitPassSampleBufferAttachmentArray();
};

} // namespace mtl
