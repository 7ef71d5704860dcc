// MTLComputePassDescriptor.
#pragma once

#include "metal/runtime/sample_buffer_attachment.h"

namespace mtl {

class ComputePassDescriptor : public objc::Object {
public:
  OBJC_CLASS(ComputePassDescriptor, "MTLComputePassDescriptor");

  DispatchType dispatch_type = DispatchType::Serial;
  objc::Ref<ComputePassSampleBufferAttachmentArray> sample_buffer_attachments =
      objc::make<ComputePassSampleBufferAttachmentArray>();
};

} // namespace mtl
