#include "metal/runtime/data_type.h"

#include <bit>

namespace mtl {
namespace {

struct Scalar {
  DataType type; // two, three and four elements follow it
  std::string_view name;
  uint32_t size;
};
constexpr Scalar kScalars[] = {
    {DataType::Float, "float", 4}, {DataType::Half, "half", 2},   {DataType::Int, "int", 4},
    {DataType::UInt, "uint", 4},   {DataType::Short, "short", 2}, {DataType::UShort, "ushort", 2},
    {DataType::Char, "char", 1},   {DataType::UChar, "uchar", 1}, {DataType::Bool, "bool", 1},
    {DataType::Long, "long", 8},   {DataType::ULong, "ulong", 8}, {DataType::BFloat, "bfloat", 2},
};
// Matrices: 2x2, 2x3, ... 4x4, columns first, follow one another.
constexpr DataType kFirstMatrices[] = {DataType::Float2x2, DataType::Half2x2};

constexpr UInteger number(DataType type) { return static_cast<UInteger>(type); }

const Scalar* scalar_named(std::string_view name) {
  for (const Scalar& scalar : kScalars)
    if (scalar.name == name)
      return &scalar;
  // MSL's other spellings.
  if (name == "unsigned int" || name == "unsigned" || name == "uint32_t")
    return scalar_named("uint");
  if (name == "int32_t")
    return scalar_named("int");
  if (name == "unsigned char" || name == "uint8_t")
    return scalar_named("uchar");
  if (name == "int8_t" || name == "signed char")
    return scalar_named("char");
  if (name == "unsigned short" || name == "uint16_t")
    return scalar_named("ushort");
  if (name == "int16_t")
    return scalar_named("short");
  if (name == "unsigned long" || name == "uint64_t" || name == "size_t")
    return scalar_named("ulong");
  if (name == "int64_t")
    return scalar_named("long");
  return nullptr;
}

uint32_t size_of_scalar(DataType type) {
  for (const Scalar& scalar : kScalars)
    if (scalar.type == type)
      return scalar.size;
  return 0;
}

} // namespace

DataType data_type_of(std::string_view name) {
  for (std::string_view prefix : {"metal::", "packed_", "simd::"})
    if (name.starts_with(prefix))
      name.remove_prefix(prefix.size());
  if (const Scalar* scalar = scalar_named(name))
    return scalar->type;
  auto digit = [&](size_t from_end) {
    char c = name.size() >= from_end ? name[name.size() - from_end] : '\0';
    return c >= '2' && c <= '4' ? static_cast<uint32_t>(c - '0') : 0u;
  };
  if (uint32_t rows = digit(1); rows && name.size() > 3 && name[name.size() - 2] == 'x')
    if (uint32_t columns = digit(3))
      for (DataType first : kFirstMatrices)
        if (name.substr(0, name.size() - 3) == data_type_name(shape_of(first).scalar))
          return static_cast<DataType>(number(first) + (columns - 2) * 3 + (rows - 2));
  if (uint32_t count = digit(1))
    if (const Scalar* scalar = scalar_named(name.substr(0, name.size() - 1)))
      return static_cast<DataType>(number(scalar->type) + count - 1);
  return DataType::None;
}

DataTypeShape shape_of(DataType type) {
  for (DataType first : kFirstMatrices)
    if (UInteger offset = number(type) - number(first); offset < 9)
      return {first == DataType::Float2x2 ? DataType::Float : DataType::Half,
              static_cast<uint32_t>(offset / 3 + 2), static_cast<uint32_t>(offset % 3 + 2)};
  for (const Scalar& scalar : kScalars)
    if (UInteger offset = number(type) - number(scalar.type); offset < 4)
      return {scalar.type, 1, static_cast<uint32_t>(offset + 1)};
  return {};
}

std::string data_type_name(DataType type) {
  DataTypeShape shape = shape_of(type);
  for (const Scalar& scalar : kScalars)
    if (scalar.type == shape.scalar) {
      std::string name(scalar.name);
      if (shape.columns > 1)
        name += std::to_string(shape.columns) + "x";
      if (shape.columns > 1 || shape.rows > 1)
        name += std::to_string(shape.rows);
      return name;
    }
  switch (type) {
  case DataType::Struct:
    return "struct";
  case DataType::Array:
    return "array";
  case DataType::Texture:
    return "texture";
  case DataType::Sampler:
    return "sampler";
  case DataType::Pointer:
    return "pointer";
  default:
    return "type " + std::to_string(number(type));
  }
}

TypeLayout layout_of(DataType type) {
  DataTypeShape shape = shape_of(type);
  if (uint32_t size = size_of_scalar(shape.scalar)) {
    // A vector of three is laid out as one of four.
    uint32_t column = size * std::bit_ceil(shape.rows);
    return {column * shape.columns, column};
  }
  switch (type) {
  case DataType::Texture:
  case DataType::Sampler:
  case DataType::Pointer:
  case DataType::ComputePipeline:
  case DataType::IndirectCommandBuffer:
  case DataType::VisibleFunctionTable:
  case DataType::IntersectionFunctionTable:
    return {8, 8};
  default:
    return {};
  }
}

} // namespace mtl
