// Integer arithmetic, comparisons and conversions.
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "vm/interpreter/handlers.h"

namespace bessemer::vm::interpreter {

namespace {

using bytecode::Op;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class In, class Out, auto Operation>
BESSEMER_VM_HANDLER(unary) {
  set<Out>(words, reg(pc, 1), Operation(get<In>(words, reg(pc, 0))));
  BESSEMER_VM_NEXT(2);
}

template <class In, class Out, auto Operation>
BESSEMER_VM_HANDLER(binary) {
  set<Out>(words, reg(pc, 2), Operation(get<In>(words, reg(pc, 0)), get<In>(words, reg(pc, 1))));
  BESSEMER_VM_NEXT(2);
}

// The amount is a word whatever the operand's width, taken modulo that width.
template <class T, auto Operation>
BESSEMER_VM_HANDLER(shift) {
  uint32_t amount = get<uint32_t>(words, reg(pc, 1)) & (sizeof(T) * 8 - 1);
  set<T>(words, reg(pc, 2), Operation(get<T>(words, reg(pc, 0)), amount));
  BESSEMER_VM_NEXT(2);
}

[[gnu::noinline, gnu::cold]] Outcome failDivision(const Cell* pc, Execution* execution) {
  return execution->fail(pc, StatusCode::InvalidArgument, "division by zero");
}

// INT_MIN / -1 wraps, as the other operations do, instead of trapping.
template <class T, bool Remainder>
BESSEMER_VM_HANDLER(divide) {
  T left = get<T>(words, reg(pc, 0));
  T right = get<T>(words, reg(pc, 1));
  if (right == 0) [[unlikely]]
    return failDivision(pc, execution);
  T result;
  if (std::is_signed_v<T> && right == static_cast<T>(-1))
    result = Remainder ? T{0} : static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(left));
  else
    result = Remainder ? left % right : left / right;
  set<T>(words, reg(pc, 2), result);
  BESSEMER_VM_NEXT(2);
}

template <class T>
BESSEMER_VM_HANDLER(multiplyAdd) {
  set<T>(words, reg(pc, 3),
         get<T>(words, reg(pc, 0)) * get<T>(words, reg(pc, 1)) + get<T>(words, reg(pc, 2)));
  BESSEMER_VM_NEXT(2);
}

template <class T>
BESSEMER_VM_HANDLER(select) {
  uint16_t chosen = get<uint32_t>(words, reg(pc, 0)) ? reg(pc, 1) : reg(pc, 2);
  set<T>(words, reg(pc, 3), get<T>(words, chosen));
  BESSEMER_VM_NEXT(2);
}

// Comparisons as types, so that they serve alone and with a branch.
template <class T>
struct Equal {
  using Type = T;
  static bool test(T a, T b) { return a == b; }
};
template <class T>
struct NotEqual {
  using Type = T;
  static bool test(T a, T b) { return a != b; }
};
template <class T>
struct Less {
  using Type = T;
  static bool test(T a, T b) { return a < b; }
};

template <class Comparison>
BESSEMER_VM_HANDLER(compare) {
  using T = typename Comparison::Type;
  set<uint32_t>(words, reg(pc, 2),
                Comparison::test(get<T>(words, reg(pc, 0)), get<T>(words, reg(pc, 1))));
  BESSEMER_VM_NEXT(2);
}

template <class Comparison, bool Expected>
BESSEMER_VM_HANDLER(compareBranch) {
  using T = typename Comparison::Type;
  bool result = Comparison::test(get<T>(words, reg(pc, 0)), get<T>(words, reg(pc, 1)));
  set<uint32_t>(words, reg(pc, 2), result);
  if (result == Expected) {
    pc = pc[2].target;
    BESSEMER_VM_DISPATCH();
  }
  BESSEMER_VM_NEXT(3);
}

// The end of a counting loop.
template <class Comparison, bool Expected>
BESSEMER_VM_HANDLER(addCompareBranch) {
  using T = typename Comparison::Type;
  using U = Unsigned<T>;
  set<U>(words, reg(pc, 2), static_cast<U>(get<U>(words, reg(pc, 0)) + get<U>(words, reg(pc, 1))));
  bool result = Comparison::test(get<T>(words, reg(pc, 4)), get<T>(words, reg(pc, 5)));
  set<uint32_t>(words, reg(pc, 6), result);
  if (result == Expected) {
    pc = pc[3].target;
    BESSEMER_VM_DISPATCH();
  }
  BESSEMER_VM_NEXT(4);
}

template <class T>
BESSEMER_VM_HANDLER(nonZero) {
  set<uint32_t>(words, reg(pc, 1), get<T>(words, reg(pc, 0)) != 0);
  BESSEMER_VM_NEXT(2);
}

template <class T, bool Expected>
BESSEMER_VM_HANDLER(nonZeroBranch) {
  bool result = get<T>(words, reg(pc, 0)) != 0;
  set<uint32_t>(words, reg(pc, 1), result);
  if (result == Expected) {
    pc = pc[2].target;
    BESSEMER_VM_DISPATCH();
  }
  BESSEMER_VM_NEXT(3);
}

template <bool Expected>
Handler* compareBranchOf(Op op) {
  switch (op) {
  case Op::CmpEqI32:
    return compareBranch<Equal<uint32_t>, Expected>;
  case Op::CmpNeI32:
    return compareBranch<NotEqual<uint32_t>, Expected>;
  case Op::CmpLtI32S:
    return compareBranch<Less<int32_t>, Expected>;
  case Op::CmpLtI32U:
    return compareBranch<Less<uint32_t>, Expected>;
  case Op::CmpNzI32:
    return nonZeroBranch<uint32_t, Expected>;
  case Op::CmpEqI64:
    return compareBranch<Equal<uint64_t>, Expected>;
  case Op::CmpNeI64:
    return compareBranch<NotEqual<uint64_t>, Expected>;
  case Op::CmpLtI64S:
    return compareBranch<Less<int64_t>, Expected>;
  case Op::CmpLtI64U:
    return compareBranch<Less<uint64_t>, Expected>;
  case Op::CmpNzI64:
    return nonZeroBranch<uint64_t, Expected>;
  default:
    return nullptr;
  }
}

} // namespace

namespace {
template <bool Expected>
Handler* addCompareBranchOf(Op add, Op comparison) {
  if (add == Op::AddI32) {
    switch (comparison) {
    case Op::CmpEqI32:
      return addCompareBranch<Equal<uint32_t>, Expected>;
    case Op::CmpNeI32:
      return addCompareBranch<NotEqual<uint32_t>, Expected>;
    case Op::CmpLtI32S:
      return addCompareBranch<Less<int32_t>, Expected>;
    case Op::CmpLtI32U:
      return addCompareBranch<Less<uint32_t>, Expected>;
    default:
      return nullptr;
    }
  }
  if (add == Op::AddI64) {
    switch (comparison) {
    case Op::CmpEqI64:
      return addCompareBranch<Equal<uint64_t>, Expected>;
    case Op::CmpNeI64:
      return addCompareBranch<NotEqual<uint64_t>, Expected>;
    case Op::CmpLtI64S:
      return addCompareBranch<Less<int64_t>, Expected>;
    case Op::CmpLtI64U:
      return addCompareBranch<Less<uint64_t>, Expected>;
    default:
      return nullptr;
    }
  }
  return nullptr;
}
} // namespace

Handler* addCompareBranchHandler(Op add, Op comparison, bool expected) {
  return expected ? addCompareBranchOf<true>(add, comparison)
                  : addCompareBranchOf<false>(add, comparison);
}

Handler* compareBranchHandler(Op op, bool expected) {
  return expected ? compareBranchOf<true>(op) : compareBranchOf<false>(op);
}

void addIntegerHandlers(HandlerTable& table) {
  auto put = [&](Op op, Handler* handler) { table[static_cast<size_t>(op)] = handler; };
  // Wrapping arithmetic is done on unsigned numbers, where C++ defines it.
#define BINARY(op, type, expression)                                                               \
  put(Op::op, binary<type, type, [](type a, type b) -> type { return expression; }>)
#define UNARY(op, in, out, expression)                                                             \
  put(Op::op, unary<in, out, [](in a) -> out { return expression; }>)
#define SHIFT(op, type, expression)                                                                \
  put(Op::op, shift<type, [](type a, uint32_t n) -> type { return expression; }>)
#define BOTH_WIDTHS(macro, op, expression)                                                         \
  macro(op##I32, uint32_t, expression);                                                            \
  macro(op##I64, uint64_t, expression)

  BOTH_WIDTHS(BINARY, Add, a + b);
  BOTH_WIDTHS(BINARY, Sub, a - b);
  BOTH_WIDTHS(BINARY, Mul, a * b);
  BOTH_WIDTHS(BINARY, And, a & b);
  BOTH_WIDTHS(BINARY, Or, a | b);
  BOTH_WIDTHS(BINARY, Xor, a ^ b);
  BINARY(MinI32S, int32_t, std::min(a, b));
  BINARY(MinI32U, uint32_t, std::min(a, b));
  BINARY(MaxI32S, int32_t, std::max(a, b));
  BINARY(MaxI32U, uint32_t, std::max(a, b));
  BINARY(MinI64S, int64_t, std::min(a, b));
  BINARY(MinI64U, uint64_t, std::min(a, b));
  BINARY(MaxI64S, int64_t, std::max(a, b));
  BINARY(MaxI64U, uint64_t, std::max(a, b));
  UNARY(NotI32, uint32_t, uint32_t, ~a);
  UNARY(NotI64, uint64_t, uint64_t, ~a);
  UNARY(CtlzI32, uint32_t, uint32_t, static_cast<uint32_t>(std::countl_zero(a)));
  UNARY(CtlzI64, uint64_t, uint64_t, static_cast<uint64_t>(std::countl_zero(a)));
  UNARY(AbsI32, uint32_t, uint32_t, static_cast<int32_t>(a) < 0 ? 0 - a : a);
  UNARY(AbsI64, uint64_t, uint64_t, static_cast<int64_t>(a) < 0 ? 0 - a : a);
  UNARY(TruncI32I8, uint32_t, uint32_t, a & 0xFF);
  UNARY(TruncI32I16, uint32_t, uint32_t, a & 0xFFFF);
  UNARY(TruncI64I32, uint64_t, uint32_t, static_cast<uint32_t>(a));
  UNARY(ExtI8I32S, uint32_t, int32_t, static_cast<int8_t>(a));
  UNARY(ExtI8I32U, uint32_t, uint32_t, static_cast<uint8_t>(a));
  UNARY(ExtI16I32S, uint32_t, int32_t, static_cast<int16_t>(a));
  UNARY(ExtI16I32U, uint32_t, uint32_t, static_cast<uint16_t>(a));
  UNARY(ExtI32I64S, uint32_t, int64_t, static_cast<int32_t>(a));
  UNARY(ExtI32I64U, uint32_t, uint64_t, a);
  SHIFT(ShlI32, uint32_t, a << n);
  SHIFT(ShrI32S, int32_t, a >> n);
  SHIFT(ShrI32U, uint32_t, a >> n);
  SHIFT(ShlI64, uint64_t, a << n);
  SHIFT(ShrI64S, int64_t, a >> n);
  SHIFT(ShrI64U, uint64_t, a >> n);
#undef BINARY
#undef UNARY
#undef SHIFT
#undef BOTH_WIDTHS

  put(Op::DivI32S, divide<int32_t, false>);
  put(Op::DivI32U, divide<uint32_t, false>);
  put(Op::RemI32S, divide<int32_t, true>);
  put(Op::RemI32U, divide<uint32_t, true>);
  put(Op::DivI64S, divide<int64_t, false>);
  put(Op::DivI64U, divide<uint64_t, false>);
  put(Op::RemI64S, divide<int64_t, true>);
  put(Op::RemI64U, divide<uint64_t, true>);
  put(Op::FmaI32, multiplyAdd<uint32_t>);
  put(Op::FmaI64, multiplyAdd<uint64_t>);
  put(Op::SelectI32, select<uint32_t>);
  put(Op::SelectI64, select<uint64_t>);
  put(Op::SelectF32, select<uint32_t>);
  put(Op::SelectF64, select<uint64_t>);
  put(Op::CmpEqI32, compare<Equal<uint32_t>>);
  put(Op::CmpNeI32, compare<NotEqual<uint32_t>>);
  put(Op::CmpLtI32S, compare<Less<int32_t>>);
  put(Op::CmpLtI32U, compare<Less<uint32_t>>);
  put(Op::CmpNzI32, nonZero<uint32_t>);
  put(Op::CmpEqI64, compare<Equal<uint64_t>>);
  put(Op::CmpNeI64, compare<NotEqual<uint64_t>>);
  put(Op::CmpLtI64S, compare<Less<int64_t>>);
  put(Op::CmpLtI64U, compare<Less<uint64_t>>);
  put(Op::CmpNzI64, nonZero<uint64_t>);
}

} // namespace bessemer::vm::interpreter
