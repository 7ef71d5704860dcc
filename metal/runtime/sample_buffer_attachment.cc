#include "metal/runtime/sample_buffer_attachment.h"

#include "metal/runtime/misuse.h"
#include "metal/runtime/property.h"

namespace mtl {

SampleBufferAttachment* SampleBufferAttachmentArray::at(UInteger index) const {
  if (index < kCount)
    return attachments_[index].get();
  report_misuse("MTLPassSampleBufferAttachmentDescriptorArray objectAtIndexedSubscript:",
                "index %llu is not below %llu", static_cast<unsigned long long>(index),
                static_cast<unsigned long long>(kCount));
  return nullptr;
}

void SampleBufferAttachmentArray::set(SampleBufferAttachment* attachment, UInteger index) {
  if (SampleBufferAttachment* target = at(index))
    static_cast<SampleBufferAttachmentValues&>(*target) =
        attachment ? static_cast<const SampleBufferAttachmentValues&>(*attachment)
                   : SampleBufferAttachmentValues{};
}

ComputePassSampleBufferAttachmentArray::ComputePassSampleBufferAttachmentArray() {
  for (auto& attachment : attachments_)
    attachment = objc::make<ComputePassSampleBufferAttachment>();
}

BlitPassSampleBufferAttachmentArray::BlitPassSampleBufferAttachmentArray() {
  for (auto& attachment : attachments_)
    attachment = objc::make<BlitPassSampleBufferAttachment>();
}

using A = SampleBufferAttachment;
using P = Properties<SampleBufferAttachment, SampleBufferAttachmentValues>;

OBJC_DEFINE_CLASS(SampleBufferAttachment, "BSMPassSampleBufferAttachmentDescriptor", objc::Object,
                  .methods = {
                      objc::method<&P::get<&A::sample_buffer>>("sampleBuffer"),
                      objc::method<&P::set<&A::sample_buffer>>("setSampleBuffer:"),
                      objc::method<&P::get<&A::start_index>>("startOfEncoderSampleIndex"),
                      objc::method<&P::set<&A::start_index>>("setStartOfEncoderSampleIndex:"),
                      objc::method<&P::get<&A::end_index>>("endOfEncoderSampleIndex"),
                      objc::method<&P::set<&A::end_index>>("setEndOfEncoderSampleIndex:"),
                  });

template <class T>
static T* copy_attachment(T* self, void* /*zone*/) {
  return Properties<T, SampleBufferAttachmentValues>::copy(self, nullptr);
}

OBJC_DEFINE_CLASS(ComputePassSampleBufferAttachment,
                  "MTLComputePassSampleBufferAttachmentDescriptor", SampleBufferAttachment,
                  .methods = {objc::method<&copy_attachment<ComputePassSampleBufferAttachment>>(
                      "copyWithZone:")});
OBJC_DEFINE_CLASS(
    BlitPassSampleBufferAttachment, "MTLBlitPassSampleBufferAttachmentDescriptor",
    SampleBufferAttachment,
    .methods = {objc::method<&copy_attachment<BlitPassSampleBufferAttachment>>("copyWithZone:")});

OBJC_DEFINE_CLASS(
    SampleBufferAttachmentArray, "BSMPassSampleBufferAttachmentDescriptorArray", objc::Object,
    .methods = {
        objc::method<&SampleBufferAttachmentArray::at>("objectAtIndexedSubscript:"),
        objc::method<&SampleBufferAttachmentArray::set>("setObject:atIndexedSubscript:"),
    });
OBJC_DEFINE_CLASS(ComputePassSampleBufferAttachmentArray,
                  "MTLComputePassSampleBufferAttachmentDescriptorArray",
                  SampleBufferAttachmentArray);
OBJC_DEFINE_CLASS(BlitPassSampleBufferAttachmentArray,
                  "MTLBlitPassSampleBufferAttachmentDescriptorArray", SampleBufferAttachmentArray);

} // namespace mtl
