#include "metal/runtime/blit_pass_descriptor.h"

#include "metal/runtime/encoding.h"

namespace mtl {

namespace {

BlitPassDescriptor* create(objc::Class*) { return objc::make<BlitPassDescriptor>().autorelease(); }
objc::Object* attachments(BlitPassDescriptor* self) {
  return self->sample_buffer_attachments.get();
}
BlitPassDescriptor* copy_with_zone(BlitPassDescriptor* self, void* /*zone*/) {
  auto copy = objc::make<BlitPassDescriptor>();
  for (UInteger i = 0; i < SampleBufferAttachmentArray::kCount; ++i)
    copy->sample_buffer_attachments->set(self->sample_buffer_attachments->at(i), i);
  return copy.take();
}

} // namespace

OBJC_DEFINE_CLASS(BlitPassDescriptor, "MTLBlitPassDescriptor", objc::Object,
                  .methods =
                      {
                          objc::method<&attachments>("sampleBufferAttachments"),
                          objc::method<&copy_with_zone>("copyWithZone:"),
                      },
                  .class_methods = {objc::method<&create>("blitPassDescriptor")});

} // namespace mtl
