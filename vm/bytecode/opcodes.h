// The operations of the bytecode and what their operands are.
#pragma once

#include <cstdint>
#include <string_view>

namespace bessemer::vm::bytecode {

// Module format that this VM runs: a module with the same major and no greater minor version.
inline constexpr uint32_t kVersionMajor = 17;
inline constexpr uint32_t kVersionMinor = 0;

// Bits of BytecodeModuleDef.requirements and FunctionDescriptor.requirements.
enum Feature : uint32_t { kFeatureF32 = 1, kFeatureF64 = 2, kFeatureYield = 4, kFeatureUnwind = 8 };
inline constexpr uint32_t kSupportedFeatures =
    kFeatureF32 | kFeatureF64 | kFeatureYield | kFeatureUnwind;

inline constexpr uint8_t kPrefixF32 = 0xE0;
inline constexpr uint8_t kPrefixF64 = 0xE1;

// The opcode byte, plus 0x100 after prefix F32, 0x200 after prefix F64.
enum class Op : uint16_t {
#define OP(code, identifier, name, operands, terminator) identifier = code,
#include "vm/bytecode/opcodes.def"
#undef OP
};

struct OpInfo {
  std::string_view name;
  std::string_view operands; // as opcodes.def says
  bool terminator = false;
};

// Null for codes that name no operation.
const OpInfo* findOp(uint32_t code);

inline constexpr uint32_t kOpCodeCount = 0x300;

} // namespace bessemer::vm::bytecode
