// MTLBlitPassDescriptor.
#pragma once

#include "metal/runtime/sample_buffer_attachment.h"

namespace mtl {

class BlitPassDescriptor : public objc::Object {
public:
  OBJC_CLASS(BlitPassDescriptor, "MTLBlitPassDescriptor");

  objc::Ref<BlitPassSampleBufferAttachmentArray> sample_buffer_attachments =
      objc::make<BlitPassSampleBufferAttachmentArray>();
};

} // namespace mtl
