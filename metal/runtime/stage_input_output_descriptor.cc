#include "metal/runtime/stage_input_output_descriptor.h"

#include "metal/runtime/property.h"

namespace mtl {

void StageInputOutputDescriptor::reset() {
  layouts_->reset();
  attributes_->reset();
  index_type = index_buffer_index = 0;
}

StageInputOutputDescriptor* StageInputOutputDescriptor::copy(void*) const {
  auto result = objc::make<StageInputOutputDescriptor>();
  result->layouts_->assign(*layouts_);
  result->attributes_->assign(*attributes_);
  result->index_type = index_type;
  result->index_buffer_index = index_buffer_index;
  return result.take();
}

namespace {

using L = BufferLayoutDescriptor;
using PL = Properties<L, BufferLayoutValues>;
using A = AttributeDescriptor;
using PA = Properties<A, AttributeValues>;
using S = StageInputOutputDescriptor;
using PS = Properties<S, S>;

StageInputOutputDescriptor* make(objc::Class*) {
  return objc::make<StageInputOutputDescriptor>().autorelease();
}

} // namespace

OBJC_DEFINE_CLASS(BufferLayoutDescriptor, "MTLBufferLayoutDescriptor", objc::Object,
                  .methods = {
                      objc::method<&PL::get<&L::stride>>("stride"),
                      objc::method<&PL::set<&L::stride>>("setStride:"),
                      objc::method<&PL::get<&L::step_function>>("stepFunction"),
                      objc::method<&PL::set<&L::step_function>>("setStepFunction:"),
                      objc::method<&PL::get<&L::step_rate>>("stepRate"),
                      objc::method<&PL::set<&L::step_rate>>("setStepRate:"),
                      objc::method<&PL::copy>("copyWithZone:"),
                  });

OBJC_DEFINE_CLASS(AttributeDescriptor, "MTLAttributeDescriptor", objc::Object,
                  .methods = {
                      objc::method<&PA::get<&A::format>>("format"),
                      objc::method<&PA::set<&A::format>>("setFormat:"),
                      objc::method<&PA::get<&A::offset>>("offset"),
                      objc::method<&PA::set<&A::offset>>("setOffset:"),
                      objc::method<&PA::get<&A::buffer_index>>("bufferIndex"),
                      objc::method<&PA::set<&A::buffer_index>>("setBufferIndex:"),
                      objc::method<&PA::copy>("copyWithZone:"),
                  });

OBJC_DEFINE_CLASS(
    BufferLayoutDescriptorArray, "MTLBufferLayoutDescriptorArray", objc::Object,
    .methods = {
        objc::method<&BufferLayoutDescriptorArray::at>("objectAtIndexedSubscript:"),
        objc::method<&BufferLayoutDescriptorArray::set>("setObject:atIndexedSubscript:"),
    });

OBJC_DEFINE_CLASS(AttributeDescriptorArray, "MTLAttributeDescriptorArray", objc::Object,
                  .methods = {
                      objc::method<&AttributeDescriptorArray::at>("objectAtIndexedSubscript:"),
                      objc::method<&AttributeDescriptorArray::set>("setObject:atIndexedSubscript:"),
                  });

OBJC_DEFINE_CLASS(StageInputOutputDescriptor, "MTLStageInputOutputDescriptor", objc::Object,
                  .methods =
                      {
                          objc::method<&S::layouts>("layouts"),
                          objc::method<&S::attributes>("attributes"),
                          objc::method<&PS::get<&S::index_type>>("indexType"),
                          objc::method<&PS::set<&S::index_type>>("setIndexType:"),
                          objc::method<&PS::get<&S::index_buffer_index>>("indexBufferIndex"),
                          objc::method<&PS::set<&S::index_buffer_index>>("setIndexBufferIndex:"),
                          objc::method<&S::reset>("reset"),
                          objc::method<&S::copy>("copyWithZone:"),
                      },
                  .class_methods = {objc::method<&make>("stageInputOutputDescriptor")});

} // namespace mtl
