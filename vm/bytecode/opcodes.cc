#include "vm/bytecode/opcodes.h"

#include <array>

namespace bessemer::vm::bytecode {

namespace {

constexpr auto kOps = [] {
  std::array<OpInfo, kOpCodeCount> ops{};
#define OP(code, identifier, name, operands, terminator)                                           \
  ops[code] = OpInfo{name, operands, terminator != 0};
#include "vm/bytecode/opcodes.def"
#undef OP
  return ops;
}();

} // namespace

const OpInfo* findOp(uint32_t code) {
  return code < kOps.size() && !kOps[code].name.empty() ? &kOps[code] : nullptr;
}

} // namespace bessemer::vm::bytecode
