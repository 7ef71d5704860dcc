// Threaded code: what the translator makes of verified bytecode and the interpreter runs. A
// function is an array of 8-byte cells; an operation is a cell with the address of its handler,
// then its operands. A handler ends by calling the next one as a tail call, so the machine's own
// branch predictor sees each pair of operations apart, and the values below stay in registers
// (preserve_none). The last six are accumulators (accumulators.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "vm/native_module.h"
#include "vm/ref.h"

namespace bessemer::vm::interpreter {

union Cell;
struct Execution;
struct FunctionCode;
struct ImportCall;
struct ModuleState;

#if __has_attribute(preserve_none)
#define BESSEMER_VM_CALL __attribute__((preserve_none))
#else // clang before 19: right, with more of the values on the stack
#define BESSEMER_VM_CALL
#endif
#define BESSEMER_VM_PARAMETERS                                                                     \
  const Cell *pc, uint32_t *words, RawRef *refs, Execution *execution, ModuleState *state,         \
      uint64_t number, uint64_t older_number, float single_number, float older_single,             \
      double double_number, double older_double
using Handler = BESSEMER_VM_CALL Outcome(BESSEMER_VM_PARAMETERS);

union Cell {
  Handler* handler;
  uint16_t reg[4];
  uint32_t u32[2];
  int64_t i64;
  const void* pointer;
  const Cell* target;
  const FunctionCode* function;
  const ImportCall* import_call;
};
static_assert(sizeof(Cell) == 8);

// In operand cells a reference register is its index, with this bit when the value moves out.
inline constexpr uint16_t kMoveBit = 0x4000;
inline constexpr uint16_t kRefIndexMask = 0x3FFF;
// In copies of words, on the target: 64 bits are copied.
inline constexpr uint16_t kWideBit = 0x8000;

// Simple operations: registers four to a cell, then a cell for each immediate.
constexpr size_t registerCells(size_t registers) { return (registers + 3) / 4; }
inline uint16_t reg(const Cell* pc, size_t index) { return pc[1 + index / 4].reg[index % 4]; }

// The body of a handler follows.
#define BESSEMER_VM_HANDLER(name)                                                                  \
  BESSEMER_VM_CALL Outcome name(                                                                   \
      [[maybe_unused]] const Cell* pc, [[maybe_unused]] uint32_t* words,                           \
      [[maybe_unused]] RawRef* refs, [[maybe_unused]] Execution* execution,                        \
      [[maybe_unused]] ModuleState* state, [[maybe_unused]] uint64_t number,                       \
      [[maybe_unused]] uint64_t older_number, [[maybe_unused]] float single_number,                \
      [[maybe_unused]] float older_single, [[maybe_unused]] double double_number,                  \
      [[maybe_unused]] double older_double)
// Goes on with the operation at pc.
#define BESSEMER_VM_DISPATCH()                                                                     \
  [[clang::musttail]] return pc->handler(pc, words, refs, execution, state, number, older_number,  \
                                         single_number, older_single, double_number, older_double)
// Goes on `cells` after this operation's beginning.
#define BESSEMER_VM_NEXT(cells)                                                                    \
  do {                                                                                             \
    pc += (cells);                                                                                 \
    BESSEMER_VM_DISPATCH();                                                                        \
  } while (false)

// Registers are 32-bit words; wider values take two, the first of them even.
template <class T>
T get(const uint32_t* words, uint16_t index) {
  T value;
  std::memcpy(&value, words + index, sizeof(T));
  return value;
}
template <class T>
void set(uint32_t* words, uint16_t index, T value) {
  std::memcpy(words + index, &value, sizeof(T));
}

inline void retain(RawRef ref) {
  if (ref.object)
    ref.type->retain(ref.object);
}
inline void release(RawRef& ref) {
  if (ref.object) {
    RawRef old = std::exchange(ref, {});
    old.type->release(old.object);
  }
}
// Puts `value`, which owns a count, into `target`.
inline void assign(RawRef& target, RawRef value) {
  RawRef old = std::exchange(target, value);
  if (old.object)
    old.type->release(old.object);
}
// The value of an operand, with a count of its own.
inline RawRef take(RawRef* refs, uint16_t operand) {
  RawRef& source = refs[operand & kRefIndexMask];
  if (operand & kMoveBit)
    return std::exchange(source, {});
  retain(source);
  return source;
}

} // namespace bessemer::vm::interpreter
