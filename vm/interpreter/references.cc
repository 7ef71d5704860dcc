// Constants, globals and references.
#include <cstring>

#include "vm/buffer.h"
#include "vm/interpreter/handlers.h"

namespace bessemer::vm::interpreter {

namespace {

using bytecode::Op;
using bytecode::Type;

// The immediate number `index` of an operation with `registers` registers.
const Cell& immediate(const Cell* pc, size_t registers, size_t index = 0) {
  return pc[1 + registerCells(registers) + index];
}

[[gnu::noinline, gnu::cold]] Outcome failType(const Cell* pc, Execution* execution,
                                              const Type& expected, RawRef found) {
  return execution->fail(pc, StatusCode::InvalidArgument, "expected a ", expected.name.substr(1),
                         ", got a ", found.type->name);
}

[[gnu::noinline, gnu::cold]] Outcome failGlobal(const Cell* pc, Execution* execution,
                                                uint32_t index) {
  return execution->fail(pc, StatusCode::OutOfRange, "there is no global at ", index);
}

bool accepts(const Type& type, RawRef ref) {
  return !ref.object || !type.ref || ref.type == type.ref;
}

template <class T>
BESSEMER_VM_HANDLER(constant) {
  set<T>(words, reg(pc, 0), static_cast<T>(immediate(pc, 1).i64));
  BESSEMER_VM_NEXT(3);
}

template <class T>
BESSEMER_VM_HANDLER(constantZero) {
  set<T>(words, reg(pc, 0), 0);
  BESSEMER_VM_NEXT(2);
}

BESSEMER_VM_HANDLER(constantNull) {
  release(refs[reg(pc, 0) & kRefIndexMask]);
  BESSEMER_VM_NEXT(2);
}

BESSEMER_VM_HANDLER(constantRodata) {
  auto* buffer = static_cast<Buffer*>(const_cast<void*>(immediate(pc, 1).pointer));
  buffer->retain();
  assign(refs[reg(pc, 0) & kRefIndexMask], {buffer, &RefTraits<Buffer>::type()});
  BESSEMER_VM_NEXT(3);
}

template <class T>
BESSEMER_VM_HANDLER(globalLoad) {
  T value;
  std::memcpy(&value, state->globals.get() + immediate(pc, 1).i64, sizeof(T));
  set<T>(words, reg(pc, 0), value);
  BESSEMER_VM_NEXT(3);
}

template <class T>
BESSEMER_VM_HANDLER(globalStore) {
  T value = get<T>(words, reg(pc, 0));
  std::memcpy(state->globals.get() + immediate(pc, 1).i64, &value, sizeof(T));
  BESSEMER_VM_NEXT(3);
}

template <class T>
BESSEMER_VM_HANDLER(globalLoadIndirect) {
  uint32_t offset = get<uint32_t>(words, reg(pc, 0));
  if (state->global_bytes < sizeof(T) || offset > state->global_bytes - sizeof(T)) [[unlikely]]
    return failGlobal(pc, execution, offset);
  T value;
  std::memcpy(&value, state->globals.get() + offset, sizeof(T));
  set<T>(words, reg(pc, 1), value);
  BESSEMER_VM_NEXT(2);
}

template <class T>
BESSEMER_VM_HANDLER(globalStoreIndirect) {
  uint32_t offset = get<uint32_t>(words, reg(pc, 0));
  if (state->global_bytes < sizeof(T) || offset > state->global_bytes - sizeof(T)) [[unlikely]]
    return failGlobal(pc, execution, offset);
  T value = get<T>(words, reg(pc, 1));
  std::memcpy(state->globals.get() + offset, &value, sizeof(T));
  BESSEMER_VM_NEXT(2);
}

// The reference that `global` hands out: moved or shared, as the result register says.
RawRef takeGlobal(RawRef& global, uint16_t result) {
  if (result & kMoveBit)
    return std::exchange(global, {});
  retain(global);
  return global;
}

BESSEMER_VM_HANDLER(globalLoadRef) {
  RawRef& global = state->global_refs[immediate(pc, 1, 0).i64];
  const Type& type = *static_cast<const Type*>(immediate(pc, 1, 1).pointer);
  if (!accepts(type, global)) [[unlikely]]
    return failType(pc, execution, type, global);
  assign(refs[reg(pc, 0) & kRefIndexMask], takeGlobal(global, reg(pc, 0)));
  BESSEMER_VM_NEXT(4);
}

BESSEMER_VM_HANDLER(globalStoreRef) {
  uint16_t source = reg(pc, 0);
  const Type& type = *static_cast<const Type*>(immediate(pc, 1, 1).pointer);
  if (!accepts(type, refs[source & kRefIndexMask])) [[unlikely]]
    return failType(pc, execution, type, refs[source & kRefIndexMask]);
  assign(state->global_refs[immediate(pc, 1, 0).i64], take(refs, source));
  BESSEMER_VM_NEXT(4);
}

BESSEMER_VM_HANDLER(globalLoadIndirectRef) {
  uint32_t index = get<uint32_t>(words, reg(pc, 0));
  if (index >= state->global_refs.size()) [[unlikely]]
    return failGlobal(pc, execution, index);
  RawRef& global = state->global_refs[index];
  const Type& type = *static_cast<const Type*>(immediate(pc, 2).pointer);
  if (!accepts(type, global)) [[unlikely]]
    return failType(pc, execution, type, global);
  assign(refs[reg(pc, 1) & kRefIndexMask], takeGlobal(global, reg(pc, 1)));
  BESSEMER_VM_NEXT(3);
}

BESSEMER_VM_HANDLER(globalStoreIndirectRef) {
  uint32_t index = get<uint32_t>(words, reg(pc, 0));
  if (index >= state->global_refs.size()) [[unlikely]]
    return failGlobal(pc, execution, index);
  uint16_t source = reg(pc, 1);
  const Type& type = *static_cast<const Type*>(immediate(pc, 2).pointer);
  if (!accepts(type, refs[source & kRefIndexMask])) [[unlikely]]
    return failType(pc, execution, type, refs[source & kRefIndexMask]);
  assign(state->global_refs[index], take(refs, source));
  BESSEMER_VM_NEXT(3);
}

// A moved operand that is not chosen is released, unless it is where the result goes (then it is
// replaced anyway).
BESSEMER_VM_HANDLER(selectRef) {
  bool condition = get<uint32_t>(words, reg(pc, 0)) != 0;
  uint16_t chosen = condition ? reg(pc, 1) : reg(pc, 2);
  uint16_t other = condition ? reg(pc, 2) : reg(pc, 1);
  const Type& type = *static_cast<const Type*>(immediate(pc, 4).pointer);
  if (!accepts(type, refs[chosen & kRefIndexMask])) [[unlikely]]
    return failType(pc, execution, type, refs[chosen & kRefIndexMask]);
  RawRef value = take(refs, chosen);
  if (other & kMoveBit)
    release(refs[other & kRefIndexMask]);
  assign(refs[reg(pc, 3) & kRefIndexMask], value);
  BESSEMER_VM_NEXT(3);
}

BESSEMER_VM_HANDLER(castAnyRef) {
  uint16_t source = reg(pc, 0);
  const Type& type = *static_cast<const Type*>(immediate(pc, 2).pointer);
  if (!accepts(type, refs[source & kRefIndexMask])) [[unlikely]]
    return failType(pc, execution, type, refs[source & kRefIndexMask]);
  RawRef value = take(refs, source);
  assign(refs[reg(pc, 1) & kRefIndexMask], value);
  BESSEMER_VM_NEXT(3);
}

BESSEMER_VM_HANDLER(assignRef) {
  RawRef value = take(refs, reg(pc, 0));
  assign(refs[reg(pc, 1) & kRefIndexMask], value);
  BESSEMER_VM_NEXT(2);
}

template <bool Expected>
BESSEMER_VM_HANDLER(compareRefs) {
  bool equal = refs[reg(pc, 0)].object == refs[reg(pc, 1)].object;
  set<uint32_t>(words, reg(pc, 2), equal == Expected);
  BESSEMER_VM_NEXT(2);
}

BESSEMER_VM_HANDLER(nonNull) {
  set<uint32_t>(words, reg(pc, 1), refs[reg(pc, 0)].object != nullptr);
  BESSEMER_VM_NEXT(2);
}

} // namespace

void addReferenceHandlers(HandlerTable& table) {
  auto put = [&](Op op, Handler* handler) { table[static_cast<size_t>(op)] = handler; };
  put(Op::ConstI32, constant<uint32_t>);
  put(Op::ConstI64, constant<uint64_t>);
  put(Op::ConstF32, constant<uint32_t>);
  put(Op::ConstF64, constant<uint64_t>);
  put(Op::ConstI32Zero, constantZero<uint32_t>);
  put(Op::ConstI64Zero, constantZero<uint64_t>);
  put(Op::ConstF32Zero, constantZero<uint32_t>);
  put(Op::ConstF64Zero, constantZero<uint64_t>);
  put(Op::ConstRefZero, constantNull);
  put(Op::ConstRefRodata, constantRodata);
  put(Op::GlobalLoadI32, globalLoad<uint32_t>);
  put(Op::GlobalLoadF32, globalLoad<uint32_t>);
  put(Op::GlobalLoadI64, globalLoad<uint64_t>);
  put(Op::GlobalLoadF64, globalLoad<uint64_t>);
  put(Op::GlobalStoreI32, globalStore<uint32_t>);
  put(Op::GlobalStoreF32, globalStore<uint32_t>);
  put(Op::GlobalStoreI64, globalStore<uint64_t>);
  put(Op::GlobalStoreF64, globalStore<uint64_t>);
  put(Op::GlobalLoadIndirectI32, globalLoadIndirect<uint32_t>);
  put(Op::GlobalLoadIndirectF32, globalLoadIndirect<uint32_t>);
  put(Op::GlobalLoadIndirectI64, globalLoadIndirect<uint64_t>);
  put(Op::GlobalLoadIndirectF64, globalLoadIndirect<uint64_t>);
  put(Op::GlobalStoreIndirectI32, globalStoreIndirect<uint32_t>);
  put(Op::GlobalStoreIndirectF32, globalStoreIndirect<uint32_t>);
  put(Op::GlobalStoreIndirectI64, globalStoreIndirect<uint64_t>);
  put(Op::GlobalStoreIndirectF64, globalStoreIndirect<uint64_t>);
  put(Op::GlobalLoadRef, globalLoadRef);
  put(Op::GlobalStoreRef, globalStoreRef);
  put(Op::GlobalLoadIndirectRef, globalLoadIndirectRef);
  put(Op::GlobalStoreIndirectRef, globalStoreIndirectRef);
  put(Op::SelectRef, selectRef);
  put(Op::CastAnyRef, castAnyRef);
  put(Op::AssignRef, assignRef);
  put(Op::CmpEqRef, compareRefs<true>);
  put(Op::CmpNeRef, compareRefs<false>);
  put(Op::CmpNzRef, nonNull);
}

} // namespace bessemer::vm::interpreter
