// MTLIndirectCommandBufferDescriptor.
#pragma once

#include "metal/objc/class.h"
#include "metal/runtime/types.h"

namespace mtl {

struct IndirectCommandBufferDescriptorValues {
  UInteger command_types = 0; // kIndirectCommandType...
  bool inherit_pipeline_state = false;
  bool inherit_buffers = true;
  UInteger max_kernel_buffers = kMaxBufferBindings;
  UInteger max_kernel_threadgroup_memories = kMaxThreadgroupMemoryBindings;
  // For rendering: kept, without effect.
  UInteger max_vertex_buffers = 0;
  UInteger max_fragment_buffers = 0;
  UInteger max_object_buffers = 0;
  UInteger max_mesh_buffers = 0;
  UInteger max_object_threadgroup_memories = 0;
  bool support_ray_tracing = false;
  bool support_dynamic_attribute_stride = false;
};

class IndirectCommandBufferDescriptor : public objc::Object,
                                        public IndirectCommandBufferDescriptorValues {
public:
  OBJC_CLASS(IndirectCommandBufferDescriptor, "MTLIndirectCommandBufferDescriptor");
};

} // namespace mtl
