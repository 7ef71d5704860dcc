// Reads one operation of a function's bytecode. Checks only that the bytes are there and that the
// operation exists; the verifier checks what they mean.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "vm/bytecode/opcodes.h"
#include "vm/status.h"

namespace bessemer::vm::bytecode {

// A register as the stream names it.
struct Register {
  uint16_t bits = 0;
  static constexpr uint16_t kRefBank = 0x8000;
  static constexpr uint16_t kMove = 0x4000;
  bool isRef() const { return bits & kRefBank; }
  // The value leaves the register instead of being shared. References only.
  bool moves() const { return isRef() && (bits & kMove); }
  uint16_t index() const { return isRef() ? bits & 0x3FFF : bits; }
};

struct Copy {
  Register source;
  Register target;
};

struct Branch {
  uint32_t target = 0; // byte offset of a block marker
  std::vector<Copy> copies;
};

struct Instruction {
  Op op = Op::Block;
  const OpInfo* info = nullptr;
  uint32_t pc = 0;                  // of the operation, its prefix included
  uint32_t end = 0;                 // of the next one
  std::vector<Register> registers;  // single registers, in operand order
  std::vector<uint64_t> immediates; // numbers, ordinals and offsets, in operand order
  std::string_view text;
  std::vector<uint16_t> segments; // 0xFFFF: no span
  std::vector<Register> operands; // the list that is read
  std::vector<Register> results;  // the list that is written
  std::vector<Branch>
      branches; // in order; the resume point of a yieldable call is one without copies
};

// Reads the operation at `pc` of `code` (a whole function) into `instruction`, reusing its memory.
Result<void> decode(std::span<const uint8_t> code, uint32_t pc, Instruction& instruction);

} // namespace bessemer::vm::bytecode
