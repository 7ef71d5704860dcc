// Integer arithmetic, comparisons and conversions.
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "vm/interpreter/arithmetic.h"
#include "vm/interpreter/handlers.h"

namespace bessemer::vm::interpreter {

namespace {

using bytecode::Op;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

[[gnu::noinline, gnu::cold]] Outcome failDivision(const Cell* pc, Execution* execution) {
  return execution->fail(pc, StatusCode::InvalidArgument, "division by zero");
}

template <class T, bool Remainder>
struct Divide {
  template <size_t Form>
  static BESSEMER_VM_HANDLER(handler) {
    T left = BESSEMER_VM_OPERAND(T, Form, 0);
    T right = BESSEMER_VM_OPERAND(T, Form, 1);
    if (right == 0) [[unlikely]]
      return failDivision(pc, execution);
    T result;
    // INT_MIN / -1 wraps, as the other operations do, instead of trapping.
    if (std::is_signed_v<T> && right == static_cast<T>(-1))
      result = Remainder ? T{0} : static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(left));
    else
      result = Remainder ? left % right : left / right;
    BESSEMER_VM_KEEP(T, 2, result);
    BESSEMER_VM_NEXT(2);
  }
  static HandlerForms forms() { return makeForms<Divide, T, T, T>(); }
};

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
HandlerForms compareForms() {
  using T = typename Comparison::Type;
  return Binary<T, T, uint32_t,
                [](T a, T b) -> uint32_t { return Comparison::test(a, b); }>::forms();
}

// Branches leave the accumulators as they are: what a loop carries on is in them.
template <class Comparison, bool Expected>
struct CompareBranch {
  template <size_t Form>
  static BESSEMER_VM_HANDLER(handler) {
    using T = typename Comparison::Type;
    bool result =
        Comparison::test(BESSEMER_VM_OPERAND(T, Form, 0), BESSEMER_VM_OPERAND(T, Form, 1));
    set<uint32_t>(words, reg(pc, 2), result);
    if (result == Expected) {
      pc = pc[2].target;
      BESSEMER_VM_DISPATCH();
    }
    BESSEMER_VM_NEXT(3);
  }
  static HandlerForms forms() {
    using T = typename Comparison::Type;
    return makeForms<CompareBranch, uint32_t, T, T>();
  }
};

template <class T>
BESSEMER_VM_HANDLER(accumulate) {
  BESSEMER_VM_KEEP(T, 0, get<T>(words, reg(pc, 0)));
  BESSEMER_VM_NEXT(2);
}

// The end of a counting loop. `ComparesSum`: what is compared first is the sum itself.
template <class Comparison, bool Expected, bool ComparesSum>
BESSEMER_VM_HANDLER(addCompareBranch) {
  using T = typename Comparison::Type;
  using U = Unsigned<T>;
  const auto sum = static_cast<U>(get<U>(words, reg(pc, 0)) + get<U>(words, reg(pc, 1)));
  BESSEMER_VM_KEEP(U, 2, sum);
  const T left = ComparesSum ? static_cast<T>(sum) : get<T>(words, reg(pc, 4));
  bool result = Comparison::test(left, get<T>(words, reg(pc, 5)));
  set<uint32_t>(words, reg(pc, 6), result);
  if (result == Expected) {
    pc = pc[3].target;
    BESSEMER_VM_DISPATCH();
  }
  BESSEMER_VM_NEXT(4);
}

template <class T, bool Expected>
struct NonZeroBranch {
  template <size_t Form>
  static BESSEMER_VM_HANDLER(handler) {
    bool result = BESSEMER_VM_OPERAND(T, Form, 0) != 0;
    set<uint32_t>(words, reg(pc, 1), result);
    if (result == Expected) {
      pc = pc[2].target;
      BESSEMER_VM_DISPATCH();
    }
    BESSEMER_VM_NEXT(3);
  }
  static HandlerForms forms() { return makeForms<NonZeroBranch, uint32_t, T>(); }
};

template <bool Expected>
HandlerForms compareBranchOf(Op op) {
  switch (op) {
  case Op::CmpEqI32:
    return CompareBranch<Equal<uint32_t>, Expected>::forms();
  case Op::CmpNeI32:
    return CompareBranch<NotEqual<uint32_t>, Expected>::forms();
  case Op::CmpLtI32S:
    return CompareBranch<Less<int32_t>, Expected>::forms();
  case Op::CmpLtI32U:
    return CompareBranch<Less<uint32_t>, Expected>::forms();
  case Op::CmpNzI32:
    return NonZeroBranch<uint32_t, Expected>::forms();
  case Op::CmpEqI64:
    return CompareBranch<Equal<uint64_t>, Expected>::forms();
  case Op::CmpNeI64:
    return CompareBranch<NotEqual<uint64_t>, Expected>::forms();
  case Op::CmpLtI64S:
    return CompareBranch<Less<int64_t>, Expected>::forms();
  case Op::CmpLtI64U:
    return CompareBranch<Less<uint64_t>, Expected>::forms();
  case Op::CmpNzI64:
    return NonZeroBranch<uint64_t, Expected>::forms();
  default:
    return {};
  }
}

} // namespace

namespace {
template <bool Expected, bool ComparesSum>
Handler* addCompareBranchOf(Op add, Op comparison) {
  if (add == Op::AddI32) {
    switch (comparison) {
    case Op::CmpEqI32:
      return addCompareBranch<Equal<uint32_t>, Expected, ComparesSum>;
    case Op::CmpNeI32:
      return addCompareBranch<NotEqual<uint32_t>, Expected, ComparesSum>;
    case Op::CmpLtI32S:
      return addCompareBranch<Less<int32_t>, Expected, ComparesSum>;
    case Op::CmpLtI32U:
      return addCompareBranch<Less<uint32_t>, Expected, ComparesSum>;
    default:
      return nullptr;
    }
  }
  if (add == Op::AddI64) {
    switch (comparison) {
    case Op::CmpEqI64:
      return addCompareBranch<Equal<uint64_t>, Expected, ComparesSum>;
    case Op::CmpNeI64:
      return addCompareBranch<NotEqual<uint64_t>, Expected, ComparesSum>;
    case Op::CmpLtI64S:
      return addCompareBranch<Less<int64_t>, Expected, ComparesSum>;
    case Op::CmpLtI64U:
      return addCompareBranch<Less<uint64_t>, Expected, ComparesSum>;
    default:
      return nullptr;
    }
  }
  return nullptr;
}
} // namespace

Handler* addCompareBranchHandler(Op add, Op comparison, bool expected, bool compares_sum) {
  if (expected)
    return compares_sum ? addCompareBranchOf<true, true>(add, comparison)
                        : addCompareBranchOf<true, false>(add, comparison);
  return compares_sum ? addCompareBranchOf<false, true>(add, comparison)
                      : addCompareBranchOf<false, false>(add, comparison);
}

Handler* compareBranchHandler(Op op, bool expected, size_t form) {
  const HandlerForms made = expected ? compareBranchOf<true>(op) : compareBranchOf<false>(op);
  return made.forms ? made.forms[form] : nullptr;
}

Handler* accumulateHandler(Bank bank) {
  switch (bank) {
  case Bank::Word:
    return accumulate<uint32_t>;
  case Bank::Wide:
    return accumulate<uint64_t>;
  case Bank::Single:
    return accumulate<float>;
  case Bank::Double:
    return accumulate<double>;
  default:
    return nullptr;
  }
}

void addIntegerHandlers(HandlerTable& table) {
  auto put = [&](Op op, HandlerForms forms) { table[static_cast<size_t>(op)] = forms; };
  // Wrapping arithmetic is done on unsigned numbers, where C++ defines it.
#define BINARY(op, type, expression)                                                               \
  put(Op::op, Binary<type, type, type, [](type a, type b) -> type { return expression; }>::forms())
#define UNARY(op, in, out, expression)                                                             \
  put(Op::op, Unary<in, out, [](in a) -> out { return expression; }>::forms())
  // The amount is a word whatever the operand's width, taken modulo that width.
#define SHIFT(op, type, expression)                                                                \
  put(Op::op, Binary<type, uint32_t, type, [](type a, uint32_t amount) -> type {                   \
        const uint32_t n = amount & (sizeof(type) * 8 - 1);                                        \
        return expression;                                                                         \
      }>::forms())
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
  put(Op::DivI32S, Divide<int32_t, false>::forms());
  put(Op::DivI32U, Divide<uint32_t, false>::forms());
  put(Op::RemI32S, Divide<int32_t, true>::forms());
  put(Op::RemI32U, Divide<uint32_t, true>::forms());
  put(Op::DivI64S, Divide<int64_t, false>::forms());
  put(Op::DivI64U, Divide<uint64_t, false>::forms());
  put(Op::RemI64S, Divide<int64_t, true>::forms());
  put(Op::RemI64U, Divide<uint64_t, true>::forms());
  put(Op::FmaI32, Ternary<uint32_t, uint32_t,
                          [](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }>::forms());
  put(Op::FmaI64, Ternary<uint64_t, uint64_t,
                          [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }>::forms());
  put(Op::SelectI32, Ternary<uint32_t, uint32_t, [](uint32_t c, uint32_t a, uint32_t b) {
        return c ? a : b;
      }>::forms());
  put(Op::SelectI64, Ternary<uint32_t, uint64_t, [](uint32_t c, uint64_t a, uint64_t b) {
        return c ? a : b;
      }>::forms());
  put(Op::SelectF32,
      Ternary<uint32_t, float, [](uint32_t c, float a, float b) { return c ? a : b; }>::forms());
  put(Op::SelectF64,
      Ternary<uint32_t, double, [](uint32_t c, double a, double b) { return c ? a : b; }>::forms());
  put(Op::CmpEqI32, compareForms<Equal<uint32_t>>());
  put(Op::CmpNeI32, compareForms<NotEqual<uint32_t>>());
  put(Op::CmpLtI32S, compareForms<Less<int32_t>>());
  put(Op::CmpLtI32U, compareForms<Less<uint32_t>>());
  UNARY(CmpNzI32, uint32_t, uint32_t, a != 0);
  put(Op::CmpEqI64, compareForms<Equal<uint64_t>>());
  put(Op::CmpNeI64, compareForms<NotEqual<uint64_t>>());
  put(Op::CmpLtI64S, compareForms<Less<int64_t>>());
  put(Op::CmpLtI64U, compareForms<Less<uint64_t>>());
  UNARY(CmpNzI64, uint64_t, uint32_t, a != 0);
#undef BINARY
#undef UNARY
#undef SHIFT
#undef BOTH_WIDTHS
}

} // namespace bessemer::vm::interpreter
