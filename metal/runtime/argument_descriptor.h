// MTLArgumentDescriptor: one member of an argument buffer that no kernel's struct describes.
#pragma once

#include "metal/objc/class.h"
#include "metal/runtime/data_type.h"
#include "metal/runtime/reflection_type.h"

namespace mtl {

struct ArgumentDescriptorValues {
  DataType data_type = DataType::None;
  UInteger index = 0;
  UInteger array_length = 0;
  Access access = Access::ReadOnly;
  UInteger texture_type = 2; // MTLTextureType2D
  UInteger constant_block_alignment = 0;
};

class ArgumentDescriptor : public objc::Object, public ArgumentDescriptorValues {
public:
  OBJC_CLASS(ArgumentDescriptor, "MTLArgumentDescriptor");
};

} // namespace mtl
