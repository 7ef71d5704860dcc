#include "metal/air/intrinsic.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace bessemer::air {

namespace {

struct OperationEntry {
  Operation operation;
  llvm::StringLiteral name;
  OperationGroup group;
};

constexpr OperationEntry kOperations[] = {
#define BESSEMER_AIR_OPERATION(id, name, group) {Operation::id, name, OperationGroup::group},
#include "metal/air/operations.def"
};

const llvm::StringMap<const OperationEntry*>& operations_by_name() {
  static const llvm::StringMap<const OperationEntry*> map = [] {
    llvm::StringMap<const OperationEntry*> result;
    for (const OperationEntry& entry : kOperations)
      result[entry.name] = &entry;
    return result;
  }();
  return map;
}

// One part between dots: `f32`, `v4i32`, `p1f16`. A sign or kind (`s`, `u`, `f`) stands alone
// before it.
bool parse_type(llvm::StringRef part, OverloadType& type) {
  if (part.consume_front("p")) {
    if (part.empty() || !llvm::isDigit(part.front()))
      return false;
    type.address_space = static_cast<int8_t>(part.front() - '0');
    part = part.drop_front();
  }
  if (part.consume_front("v")) {
    unsigned lanes = 0;
    if (part.consumeInteger(10, lanes) || lanes < 2 || lanes > 64)
      return false;
    type.lanes = static_cast<uint8_t>(lanes);
  }
  if (part.consume_front("bf"))
    type.format = OverloadType::Format::BFloat;
  else if (part.consume_front("f"))
    type.format = OverloadType::Format::Float;
  else if (part.consume_front("i"))
    type.format = OverloadType::Format::Integer;
  else
    return false;
  unsigned bits = 0;
  if (part.consumeInteger(10, bits) || !part.empty() || bits == 0 || bits > 64)
    return false;
  type.bits = static_cast<uint8_t>(bits);
  return true;
}

bool parse_types(llvm::ArrayRef<llvm::StringRef> parts,
                 llvm::SmallVectorImpl<OverloadType>& types) {
  char sign = 0;
  for (llvm::StringRef part : parts) {
    if (part == "s" || part == "u") {
      sign = part.front();
      continue;
    }
    if (part == "f")
      continue;
    OverloadType type;
    if (!parse_type(part, type))
      return false;
    type.sign = sign;
    sign = 0;
    types.push_back(type);
  }
  return true;
}

bool is_texture_operation(llvm::StringRef name) {
  for (llvm::StringRef verb : {"sample_", "read_", "write_", "gather_", "get_", "fence_"})
    if (name.starts_with(verb) && name.contains("texture"))
      return true;
  return false;
}

} // namespace

std::optional<Intrinsic> parse_intrinsic(llvm::StringRef name) {
  if (!name.consume_front("air."))
    return std::nullopt;
  Intrinsic result{};
  if (is_texture_operation(name)) {
    result.operation = Operation::Texture;
    result.group = OperationGroup::Texture;
    return result;
  }
  result.fast = name.consume_front("fast_");
  llvm::SmallString<64> plain;
  if (name.consume_front("atomic.")) {
    plain = "atomic.";
    if (name.consume_front("local."))
      result.threadgroup = true;
    else
      name.consume_front("global.");
  }
  plain += name;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  llvm::StringRef(plain).split(parts, '.');
  // Operation names have up to three parts; the longest that is known is the operation.
  for (size_t count = std::min<size_t>(parts.size(), 3); count > 0; --count) {
    llvm::StringRef base(plain.data(), parts[count - 1].end() - plain.data());
    auto found = operations_by_name().find(base);
    if (found == operations_by_name().end())
      continue;
    result.operation = found->second->operation;
    result.group = found->second->group;
    if (!parse_types(llvm::ArrayRef(parts).drop_front(count), result.types))
      return std::nullopt;
    return result;
  }
  return std::nullopt;
}

llvm::StringRef operation_name(Operation operation) {
  return kOperations[static_cast<size_t>(operation)].name;
}

} // namespace bessemer::air
