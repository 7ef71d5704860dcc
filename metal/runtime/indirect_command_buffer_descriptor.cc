#include "metal/runtime/indirect_command_buffer_descriptor.h"

#include "metal/runtime/property.h"

namespace mtl {

using D = IndirectCommandBufferDescriptor;
using P = Properties<D, IndirectCommandBufferDescriptorValues>;

OBJC_DEFINE_CLASS(
    IndirectCommandBufferDescriptor, "MTLIndirectCommandBufferDescriptor", objc::Object,
    .methods = {
        objc::method<&P::get<&D::command_types>>("commandTypes"),
        objc::method<&P::set<&D::command_types>>("setCommandTypes:"),
        objc::method<&P::get<&D::inherit_pipeline_state>>("inheritPipelineState"),
        objc::method<&P::set<&D::inherit_pipeline_state>>("setInheritPipelineState:"),
        objc::method<&P::get<&D::inherit_buffers>>("inheritBuffers"),
        objc::method<&P::set<&D::inherit_buffers>>("setInheritBuffers:"),
        objc::method<&P::get<&D::max_kernel_buffers>>("maxKernelBufferBindCount"),
        objc::method<&P::set<&D::max_kernel_buffers>>("setMaxKernelBufferBindCount:"),
        objc::method<&P::get<&D::max_kernel_threadgroup_memories>>(
            "maxKernelThreadgroupMemoryBindCount"),
        objc::method<&P::set<&D::max_kernel_threadgroup_memories>>(
            "setMaxKernelThreadgroupMemoryBindCount:"),
        objc::method<&P::get<&D::max_vertex_buffers>>("maxVertexBufferBindCount"),
        objc::method<&P::set<&D::max_vertex_buffers>>("setMaxVertexBufferBindCount:"),
        objc::method<&P::get<&D::max_fragment_buffers>>("maxFragmentBufferBindCount"),
        objc::method<&P::set<&D::max_fragment_buffers>>("setMaxFragmentBufferBindCount:"),
        objc::method<&P::get<&D::max_object_buffers>>("maxObjectBufferBindCount"),
        objc::method<&P::set<&D::max_object_buffers>>("setMaxObjectBufferBindCount:"),
        objc::method<&P::get<&D::max_mesh_buffers>>("maxMeshBufferBindCount"),
        objc::method<&P::set<&D::max_mesh_buffers>>("setMaxMeshBufferBindCount:"),
        objc::method<&P::get<&D::max_object_threadgroup_memories>>(
            "maxObjectThreadgroupMemoryBindCount"),
        objc::method<&P::set<&D::max_object_threadgroup_memories>>(
            "setMaxObjectThreadgroupMemoryBindCount:"),
        objc::method<&P::get<&D::support_ray_tracing>>("supportRayTracing"),
        objc::method<&P::set<&D::support_ray_tracing>>("setSupportRayTracing:"),
        objc::method<&P::get<&D::support_dynamic_attribute_stride>>(
            "supportDynamicAttributeStride"),
        objc::method<&P::set<&D::support_dynamic_attribute_stride>>(
            "setSupportDynamicAttributeStride:"),
        objc::method<&P::copy>("copyWithZone:"),
    });

} // namespace mtl
