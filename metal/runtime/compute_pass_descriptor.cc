#include "metal/runtime/compute_pass_descriptor.h"

#include "metal/runtime/encoding.h"

namespace mtl {

namespace {

ComputePassDescriptor* create(objc::Class*) {
  return objc::make<ComputePassDescriptor>().autorelease();
}
DispatchType dispatch_type(ComputePassDescriptor* self) { return self->dispatch_type; }
void set_dispatch_type(ComputePassDescriptor* self, DispatchType type) {
  self->dispatch_type = type;
}
objc::Object* attachments(ComputePassDescriptor* self) {
  return self->sample_buffer_attachments.get();
}
ComputePassDescriptor* copy_with_zone(ComputePassDescriptor* self, void* /*zone*/) {
  auto copy = objc::make<ComputePassDescriptor>();
  copy->dispatch_type = self->dispatch_type;
  for (UInteger i = 0; i < SampleBufferAttachmentArray::kCount; ++i)
    copy->sample_buffer_attachments->set(self->sample_buffer_attachments->at(i), i);
  return copy.take();
}

} // namespace

OBJC_DEFINE_CLASS(ComputePassDescriptor, "MTLComputePassDescriptor", objc::Object,
                  .methods =
                      {
                          objc::method<&dispatch_type>("dispatchType"),
                          objc::method<&set_dispatch_type>("setDispatchType:"),
                          objc::method<&attachments>("sampleBufferAttachments"),
                          objc::method<&copy_with_zone>("copyWithZone:"),
                      },
                  .class_methods = {objc::method<&create>("computePassDescriptor")});

} // namespace mtl
