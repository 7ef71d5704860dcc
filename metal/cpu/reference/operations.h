// What AIR's operations compute, written from the Metal Shading Language specification in plain
// double and integer arithmetic: slow, and obviously right.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "metal/air/intrinsic.h"
#include "metal/cpu/reference/number.h"

namespace bessemer::metal::cpu::reference {

// A call of an intrinsic: what it is and the types of its operands and result.
struct CallShape {
  air::Intrinsic intrinsic;
  std::string name;
  Type result; // Format::None: void
  std::array<Type, 8> operands{};
  unsigned operand_count = 0;
};

// One thread's operands and result, each in a slot of kSlotBytes.
struct CallData {
  const uint8_t* operands = nullptr;
  uint8_t* result = nullptr;
  const uint8_t* operand(unsigned index) const { return operands + size_t{index} * kSlotBytes; }
};

// Whether threads must meet for the operation.
bool isCollective(air::OperationGroup group);

// Whether `evaluate` or `evaluateTogether` knows the operation.
bool isKnown(const CallShape& shape);

// An operation of one thread alone: maths, integers, conversions, atomics, hints.
void evaluate(const CallShape& shape, const CallData& data);

inline constexpr unsigned kSimdgroup = 32;

// An operation of the simdgroup's active lanes; `lanes[i]` is null where lane i is not active.
void evaluateTogether(const CallShape& shape, std::array<CallData*, kSimdgroup>& lanes);

} // namespace bessemer::metal::cpu::reference
