#include "metal/runtime/pipeline_buffer_descriptor.h"

#include "metal/runtime/misuse.h"
#include "metal/runtime/property.h"

namespace mtl {

PipelineBufferDescriptor* PipelineBufferDescriptorArray::at(UInteger index) {
  if (index >= descriptors_.size()) {
    report_misuse("MTLPipelineBufferDescriptorArray objectAtIndexedSubscript:",
                  "index %lu, but there are %zu buffers", index, descriptors_.size());
    return nullptr;
  }
  if (!descriptors_[index])
    descriptors_[index] = objc::make<PipelineBufferDescriptor>();
  return descriptors_[index].get();
}

void PipelineBufferDescriptorArray::set(PipelineBufferDescriptor* descriptor, UInteger index) {
  if (PipelineBufferDescriptor* target = at(index))
    target->mutability = descriptor ? descriptor->mutability : 0;
}

void PipelineBufferDescriptorArray::reset() { descriptors_ = {}; }

void PipelineBufferDescriptorArray::assign(const PipelineBufferDescriptorArray& other) {
  for (UInteger i = 0; i < descriptors_.size(); ++i)
    if (other.descriptors_[i])
      at(i)->mutability = other.descriptors_[i]->mutability;
    else
      descriptors_[i] = nullptr;
}

using P = Properties<PipelineBufferDescriptor, PipelineBufferDescriptorValues>;

OBJC_DEFINE_CLASS(
    PipelineBufferDescriptor, "MTLPipelineBufferDescriptor", objc::Object,
    .methods = {
        objc::method<&P::get<&PipelineBufferDescriptor::mutability>>("mutability"),
        objc::method<&P::set<&PipelineBufferDescriptor::mutability>>("setMutability:"),
        objc::method<&P::copy>("copyWithZone:"),
    });

OBJC_DEFINE_CLASS(
    PipelineBufferDescriptorArray, "MTLPipelineBufferDescriptorArray", objc::Object,
    .methods = {
        objc::method<&PipelineBufferDescriptorArray::at>("objectAtIndexedSubscript:"),
        objc::method<&PipelineBufferDescriptorArray::set>("setObject:atIndexedSubscript:"),
    });

} // namespace mtl
