// The classes of Metal that a device that only computes has no use for. Each is there by name, so
// that programs with graphics in them link and start; +alloc and every other class method answer
// nil, with a message on standard error that says so.
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/runtime/misuse.h"

namespace mtl {
namespace {

extern "C" bool class_addMethod(objc::Class* cls, objc::Selector* selector, objc::Imp imp,
                                const char* types);

void* answer_nil(objc::Class* self, objc::Selector* selector) {
  report_misuse((std::string(self->name) + " " + objc::sel_getName(selector)).c_str(),
                "this device computes only, the answer is nil");
  return nullptr;
}

bool resolve_class_method(objc::Class* self, objc::Selector* selector) {
  return class_addMethod(self->isa, selector, reinterpret_cast<objc::Imp>(&answer_nil), "@@:");
}

} // namespace

#define CLASS_THAT_ANSWERS_NIL(name)                                                               \
  class name : public objc::Object {                                                               \
  public:                                                                                          \
    OBJC_CLASS(name, "MTL" #name);                                                                 \
  };                                                                                               \
  OBJC_DEFINE_CLASS(name, "MTL" #name, objc::Object,                                               \
                    .class_methods = {                                                             \
                        objc::raw_method<&answer_nil>("alloc", "@@:"),                             \
                        objc::raw_method<&answer_nil>("new", "@@:"),                               \
                        objc::method<&resolve_class_method>("resolveClassMethod:"),                \
                    })

CLASS_THAT_ANSWERS_NIL(AccelerationStructureBoundingBoxGeometryDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructureCurveGeometryDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructureDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructureGeometryDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructureMotionBoundingBoxGeometryDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructureMotionCurveGeometryDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructureMotionTriangleGeometryDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructurePassDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructurePassSampleBufferAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(AccelerationStructurePassSampleBufferAttachmentDescriptorArray);
CLASS_THAT_ANSWERS_NIL(AccelerationStructureTriangleGeometryDescriptor);
CLASS_THAT_ANSWERS_NIL(Attribute);
CLASS_THAT_ANSWERS_NIL(DepthStencilDescriptor);
CLASS_THAT_ANSWERS_NIL(FunctionStitchingAttributeAlwaysInline);
CLASS_THAT_ANSWERS_NIL(FunctionStitchingFunctionNode);
CLASS_THAT_ANSWERS_NIL(FunctionStitchingGraph);
CLASS_THAT_ANSWERS_NIL(FunctionStitchingInputNode);
CLASS_THAT_ANSWERS_NIL(IOCommandQueueDescriptor);
CLASS_THAT_ANSWERS_NIL(IndirectInstanceAccelerationStructureDescriptor);
CLASS_THAT_ANSWERS_NIL(InstanceAccelerationStructureDescriptor);
CLASS_THAT_ANSWERS_NIL(IntersectionFunctionTableDescriptor);
CLASS_THAT_ANSWERS_NIL(MeshRenderPipelineDescriptor);
CLASS_THAT_ANSWERS_NIL(MotionKeyframeData);
CLASS_THAT_ANSWERS_NIL(PrimitiveAccelerationStructureDescriptor);
CLASS_THAT_ANSWERS_NIL(RasterizationRateLayerArray);
CLASS_THAT_ANSWERS_NIL(RasterizationRateLayerDescriptor);
CLASS_THAT_ANSWERS_NIL(RasterizationRateMapDescriptor);
CLASS_THAT_ANSWERS_NIL(RasterizationRateSampleArray);
CLASS_THAT_ANSWERS_NIL(RenderPassAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPassColorAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPassColorAttachmentDescriptorArray);
CLASS_THAT_ANSWERS_NIL(RenderPassDepthAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPassDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPassSampleBufferAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPassSampleBufferAttachmentDescriptorArray);
CLASS_THAT_ANSWERS_NIL(RenderPassStencilAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPipelineColorAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPipelineColorAttachmentDescriptorArray);
CLASS_THAT_ANSWERS_NIL(RenderPipelineDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPipelineFunctionsDescriptor);
CLASS_THAT_ANSWERS_NIL(RenderPipelineReflection);
CLASS_THAT_ANSWERS_NIL(ResourceStatePassDescriptor);
CLASS_THAT_ANSWERS_NIL(ResourceStatePassSampleBufferAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(ResourceStatePassSampleBufferAttachmentDescriptorArray);
CLASS_THAT_ANSWERS_NIL(SamplerDescriptor);
CLASS_THAT_ANSWERS_NIL(SharedTextureHandle);
CLASS_THAT_ANSWERS_NIL(StencilDescriptor);
CLASS_THAT_ANSWERS_NIL(StitchedLibraryDescriptor);
CLASS_THAT_ANSWERS_NIL(TextureDescriptor);
CLASS_THAT_ANSWERS_NIL(TileRenderPipelineColorAttachmentDescriptor);
CLASS_THAT_ANSWERS_NIL(TileRenderPipelineColorAttachmentDescriptorArray);
CLASS_THAT_ANSWERS_NIL(TileRenderPipelineDescriptor);
CLASS_THAT_ANSWERS_NIL(VertexAttribute);
CLASS_THAT_ANSWERS_NIL(VertexAttributeDescriptor);
CLASS_THAT_ANSWERS_NIL(VertexAttributeDescriptorArray);
CLASS_THAT_ANSWERS_NIL(VertexBufferLayoutDescriptor);
CLASS_THAT_ANSWERS_NIL(VertexBufferLayoutDescriptorArray);
CLASS_THAT_ANSWERS_NIL(VertexDescriptor);
CLASS_THAT_ANSWERS_NIL(VisibleFunctionTableDescriptor);

} // namespace mtl
