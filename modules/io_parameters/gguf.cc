// .gguf, versions 2 and 3: keys and values, descriptions of tensors, then aligned data.
#include <optional>

#include "modules/io_parameters/archive.h"
#include "modules/io_parameters/byte_reader.h"

namespace bessemer::modules {

namespace {

using vm::fail;
using vm::StatusCode;

constexpr uint32_t kMagic = 0x46554747; // "GGUF"
constexpr uint64_t kDefaultAlignment = 32;

enum class ValueType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

// Bytes of a value of fixed size; 0 for the others.
uint64_t sizeOf(ValueType type) {
  switch (type) {
  case ValueType::U8:
  case ValueType::I8:
  case ValueType::Bool:
    return 1;
  case ValueType::U16:
  case ValueType::I16:
    return 2;
  case ValueType::U32:
  case ValueType::I32:
  case ValueType::F32:
    return 4;
  case ValueType::U64:
  case ValueType::I64:
  case ValueType::F64:
    return 8;
  default:
    return 0;
  }
}

// A tensor type: so many elements take so many bytes.
struct BlockType {
  uint32_t type;
  uint32_t elements;
  uint32_t bytes;
};

// ggml's types by number: quantised ones come in blocks.
constexpr BlockType kBlockTypes[] = {
    {0, 1, 4},      {1, 1, 2},      {2, 32, 18},   {3, 32, 20},    {6, 32, 22},    {7, 32, 24},
    {8, 32, 34},    {9, 32, 36},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144}, {13, 256, 176},
    {14, 256, 210}, {15, 256, 292}, {16, 256, 66}, {17, 256, 74},  {18, 256, 98},  {19, 256, 50},
    {20, 32, 18},   {21, 256, 110}, {22, 256, 82}, {23, 256, 136}, {24, 1, 1},     {25, 1, 2},
    {26, 1, 4},     {27, 1, 8},     {28, 1, 8},    {29, 256, 56},  {30, 1, 2},     {34, 256, 54},
    {35, 256, 66},  {39, 32, 17},
};

std::optional<BlockType> findBlockType(uint32_t type) {
  for (const BlockType& block : kBlockTypes)
    if (block.type == type)
      return block;
  return std::nullopt;
}

class Reader {
public:
  Reader(std::shared_ptr<const vm::FileMapping> file, const std::string& path)
      : file_(std::move(file)), reader_(file_->bytes()) {
    archive_.path = path;
  }

  vm::Result<Archive> run() {
    auto magic = reader_.read<uint32_t>();
    auto version = reader_.read<uint32_t>();
    auto tensor_count = reader_.read<uint64_t>();
    auto value_count = reader_.read<uint64_t>();
    if (!reader_.ok() || magic != kMagic)
      return fail(StatusCode::InvalidArgument, "not a GGUF file");
    if (version != 2 && version != 3)
      return fail(StatusCode::Unimplemented, "GGUF version ", version, " is not supported");
    for (uint64_t i = 0; i < value_count && reader_.ok(); ++i)
      BESSEMER_RETURN_IF_ERROR(readKeyValue());
    for (uint64_t i = 0; i < tensor_count && reader_.ok(); ++i)
      BESSEMER_RETURN_IF_ERROR(readTensor());
    if (!reader_.ok())
      return fail(StatusCode::InvalidArgument, "truncated: the descriptions end past the file's ",
                  file_->bytes().size(), " bytes");
    uint64_t data = (reader_.offset() + alignment_ - 1) / alignment_ * alignment_;
    for (auto& [name, parameter] : archive_.parameters) {
      uint64_t size = file_->bytes().size();
      if (data > size || !isInside(parameter.offset, parameter.length, size - data))
        return fail(StatusCode::InvalidArgument, "truncated: ", name, " has ", parameter.length,
                    " bytes at ", parameter.offset, ", the file ends before");
      parameter.offset += data;
    }
    return std::move(archive_);
  }

private:
  std::string_view readString() { return reader_.readText(reader_.read<uint64_t>()); }

  vm::Result<void> skipValue(ValueType type, int depth) {
    if (uint64_t size = sizeOf(type)) {
      reader_.skip(size);
      return {};
    }
    if (type == ValueType::String) {
      readString();
      return {};
    }
    constexpr int kMaxDepth = 8;
    if (type != ValueType::Array || depth > kMaxDepth)
      return fail(StatusCode::InvalidArgument, "unknown type of value ",
                  static_cast<uint32_t>(type), " before byte ", reader_.offset());
    auto element = static_cast<ValueType>(reader_.read<uint32_t>());
    auto count = reader_.read<uint64_t>();
    if (uint64_t size = sizeOf(element)) {
      reader_.skip(count > reader_.left() / size ? reader_.left() + 1 : count * size);
      return {};
    }
    for (uint64_t i = 0; i < count && reader_.ok(); ++i)
      BESSEMER_RETURN_IF_ERROR(skipValue(element, depth + 1));
    return {};
  }

  vm::Result<void> readKeyValue() {
    std::string_view key = readString();
    auto type = static_cast<ValueType>(reader_.read<uint32_t>());
    if (key != "general.alignment" || type != ValueType::U32)
      return skipValue(type, 0);
    alignment_ = reader_.read<uint32_t>();
    constexpr uint64_t kMaxAlignment = 1 << 20;
    if (alignment_ == 0 || alignment_ > kMaxAlignment)
      return fail(StatusCode::InvalidArgument, "general.alignment is ", alignment_);
    return {};
  }

  vm::Result<void> readTensor() {
    std::string name(readString());
    auto rank = reader_.read<uint32_t>();
    constexpr uint32_t kMaxRank = 16;
    if (rank > kMaxRank)
      return fail(StatusCode::InvalidArgument, name, " has rank ", rank);
    uint64_t elements = 1;
    bool overflow = false;
    for (uint32_t i = 0; i < rank; ++i)
      overflow |= __builtin_mul_overflow(elements, reader_.read<uint64_t>(), &elements);
    auto type = reader_.read<uint32_t>();
    Parameter parameter;
    parameter.offset = reader_.read<uint64_t>();
    if (!reader_.ok())
      return {}; // said by the caller
    auto block = findBlockType(type);
    if (!block)
      return fail(StatusCode::Unimplemented, name, ": tensor type ", type, " is not known");
    if (elements % block->elements)
      return fail(StatusCode::InvalidArgument, name, ": ", elements,
                  " elements are no whole blocks of ", block->elements);
    overflow |= __builtin_mul_overflow(elements / block->elements, block->bytes, &parameter.length);
    if (overflow)
      return fail(StatusCode::InvalidArgument, name, ": too large");
    parameter.file = file_;
    archive_.parameters.insert_or_assign(std::move(name), std::move(parameter));
    return {};
  }

  std::shared_ptr<const vm::FileMapping> file_;
  ByteReader reader_;
  Archive archive_;
  uint64_t alignment_ = kDefaultAlignment;
};

} // namespace

vm::Result<Archive> readGguf(std::shared_ptr<const vm::FileMapping> file, const std::string& path) {
  return Reader(std::move(file), path).run();
}

} // namespace bessemer::modules
