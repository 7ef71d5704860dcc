// MTLDataType: names, sizes and layout of the types that reflection and function constants speak
// of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "metal/runtime/types.h"

namespace mtl {

enum class DataType : UInteger {
  None = 0,
  Struct = 1,
  Array = 2,
  Float = 3,
  Float2x2 = 7,
  Half = 16,
  Half2x2 = 20,
  Int = 29,
  UInt = 33,
  Short = 37,
  UShort = 41,
  Char = 45,
  UChar = 49,
  Bool = 53,
  Texture = 58,
  Sampler = 59,
  Pointer = 60,
  ComputePipeline = 79,
  IndirectCommandBuffer = 80,
  Long = 81,
  ULong = 85,
  VisibleFunctionTable = 115,
  IntersectionFunctionTable = 116,
  BFloat = 121,
};

/// The type that MSL spells so ("uint3", "metal::float4", "packed_half2", "half4x4"); None for what
/// is no scalar, vector or matrix.
DataType data_type_of(std::string_view msl_name);
/// "float4x4"; "type 200" for what has no name here.
std::string data_type_name(DataType type);

struct TypeLayout {
  uint32_t size = 0;
  uint32_t alignment = 1;
};
/// As MSL lays the type out in memory; size 0 for what has no fixed size. Pointers and other
/// resources take 8 bytes in an argument buffer.
TypeLayout layout_of(DataType type);

/// The scalar that a vector or matrix consists of, and how many rows and columns.
struct DataTypeShape {
  DataType scalar = DataType::None;
  uint32_t columns = 1;
  uint32_t rows = 1; // of a vector: its elements
};
DataTypeShape shape_of(DataType type);

} // namespace mtl
