// MTLPipelineBufferDescriptor and its array.
#pragma once

#include <array>

#include "metal/objc/class.h"
#include "metal/runtime/types.h"

namespace mtl {

struct PipelineBufferDescriptorValues {
  UInteger mutability = 0; // MTLMutability: default, mutable, immutable
};

class PipelineBufferDescriptor : public objc::Object, public PipelineBufferDescriptorValues {
public:
  OBJC_CLASS(PipelineBufferDescriptor, "MTLPipelineBufferDescriptor");
};

/// One descriptor for each buffer index, made when it is asked for.
class PipelineBufferDescriptorArray : public objc::Object {
public:
  OBJC_CLASS(PipelineBufferDescriptorArray, "MTLPipelineBufferDescriptorArray");

  /// Null, with a message, past the last index.
  PipelineBufferDescriptor* at(UInteger index);
  /// Copies the descriptor; null resets it.
  void set(PipelineBufferDescriptor* descriptor, UInteger index);
  void reset();
  void assign(const PipelineBufferDescriptorArray& other);

private:
  std::array<objc::Ref<PipelineBufferDescriptor>, kMaxBufferBindings> descriptors_;
};

} // namespace mtl
