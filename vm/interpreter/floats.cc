// Floating-point arithmetic, comparisons and conversions.
#include <bit>
#include <cmath>
#include <limits>

#include "vm/interpreter/arithmetic.h"
#include "vm/interpreter/handlers.h"

namespace bessemer::vm::interpreter {

namespace {

using bytecode::Op;

// To the nearest integer, halves away from zero. What does not fit goes to the nearest end, NaN to
// 0.
template <class Int, class T>
Int toInteger(T value) {
  T rounded = std::round(value);
  if (std::isnan(rounded))
    return 0;
  // 2^bits, exact in T; max() itself may not be.
  constexpr T end = static_cast<T>(std::numeric_limits<Int>::max() / 2 + 1) * 2;
  if (rounded >= end)
    return std::numeric_limits<Int>::max();
  if (rounded < static_cast<T>(std::numeric_limits<Int>::min()))
    return std::numeric_limits<Int>::min();
  return static_cast<Int>(rounded);
}

} // namespace

void addFloatHandlers(HandlerTable& table) {
  auto put = [&](Op op, HandlerForms forms) { table[static_cast<size_t>(op)] = forms; };
#define BINARY(op, type, out, expression)                                                          \
  put(Op::op, Binary<type, type, out, [](type a, type b) -> out { return expression; }>::forms())
#define UNARY(op, in, out, expression)                                                             \
  put(Op::op, Unary<in, out, [](in a) -> out { return expression; }>::forms())
#define BOTH_UNARY(op, expression)                                                                 \
  UNARY(op##F32, float, float, expression);                                                        \
  UNARY(op##F64, double, double, expression)
#define BOTH_BINARY(op, expression)                                                                \
  BINARY(op##F32, float, float, expression);                                                       \
  BINARY(op##F64, double, double, expression)
  // What calls the library.
#define BOTH_SLOW_UNARY(op, expression)                                                            \
  put(Op::op##F32, Unary<float, float, [](float a) -> float { return expression; }>::plain());     \
  put(Op::op##F64, Unary<double, double, [](double a) -> double { return expression; }>::plain())
#define BOTH_SLOW_BINARY(op, expression)                                                           \
  put(Op::op##F32,                                                                                 \
      Binary<float, float, float, [](float a, float b) -> float { return expression; }>::plain()); \
  put(Op::op##F64, Binary<double, double, double,                                                  \
                          [](double a, double b) -> double { return expression; }>::plain())
#define BOTH_COMPARE(op, suffix, expression)                                                       \
  BINARY(op##F32##suffix, float, uint32_t, expression);                                            \
  BINARY(op##F64##suffix, double, uint32_t, expression)

  BOTH_BINARY(Add, a + b);
  BOTH_BINARY(Sub, a - b);
  BOTH_BINARY(Mul, a * b);
  BOTH_BINARY(Div, a / b);
  BOTH_SLOW_BINARY(Rem, std::fmod(a, b));
  BOTH_SLOW_BINARY(Atan2, std::atan2(a, b));
  BOTH_SLOW_BINARY(Pow, std::pow(a, b));
  // NaN in either gives the first operand.
  BOTH_BINARY(Min, b < a ? b : a);
  BOTH_BINARY(Max, a < b ? b : a);
  BOTH_UNARY(Abs, std::fabs(a));
  BOTH_UNARY(Neg, -a);
  BOTH_UNARY(Ceil, std::ceil(a));
  BOTH_UNARY(Floor, std::floor(a));
  BOTH_UNARY(Round, std::round(a));
  BOTH_SLOW_UNARY(Atan, std::atan(a));
  BOTH_SLOW_UNARY(Cos, std::cos(a));
  BOTH_SLOW_UNARY(Sin, std::sin(a));
  BOTH_SLOW_UNARY(Exp, std::exp(a));
  BOTH_SLOW_UNARY(Exp2, std::exp2(a));
  BOTH_SLOW_UNARY(Expm1, std::expm1(a));
  BOTH_SLOW_UNARY(Log, std::log(a));
  BOTH_SLOW_UNARY(Log10, std::log10(a));
  BOTH_SLOW_UNARY(Log1p, std::log1p(a));
  BOTH_SLOW_UNARY(Log2, std::log2(a));
  BOTH_UNARY(Rsqrt, 1 / std::sqrt(a));
  BOTH_UNARY(Sqrt, std::sqrt(a));
  BOTH_SLOW_UNARY(Tanh, std::tanh(a));
  BOTH_SLOW_UNARY(Erf, std::erf(a));
  // The default rounding mode is to nearest, ties to even.
  UNARY(RoundF32Even, float, float, std::nearbyint(a));
  UNARY(RoundF64Even, double, double, std::nearbyint(a));
  // .o is false and .u is true when an operand is NaN.
  BOTH_COMPARE(CmpEq, O, a == b);
  BOTH_COMPARE(CmpEq, U, !(a < b) && !(a > b));
  BOTH_COMPARE(CmpNe, O, a < b || a > b);
  BOTH_COMPARE(CmpNe, U, !(a == b));
  BOTH_COMPARE(CmpLt, O, a < b);
  BOTH_COMPARE(CmpLt, U, !(a >= b));
  BOTH_COMPARE(CmpLte, O, a <= b);
  BOTH_COMPARE(CmpLte, U, !(a > b));
  UNARY(CmpNanF32, float, uint32_t, std::isnan(a));
  UNARY(CmpNanF64, double, uint32_t, std::isnan(a));

  UNARY(CastSi32F32, int32_t, float, static_cast<float>(a));
  UNARY(CastUi32F32, uint32_t, float, static_cast<float>(a));
  UNARY(CastSi64F32, int64_t, float, static_cast<float>(a));
  UNARY(CastUi64F32, uint64_t, float, static_cast<float>(a));
  UNARY(CastF32Si32, float, int32_t, (toInteger<int32_t>(a)));
  UNARY(CastF32Ui32, float, uint32_t, (toInteger<uint32_t>(a)));
  UNARY(CastF32Si64, float, int64_t, (toInteger<int64_t>(a)));
  UNARY(CastF32Ui64, float, uint64_t, (toInteger<uint64_t>(a)));
  UNARY(CastSi32F64, int32_t, double, static_cast<double>(a));
  UNARY(CastUi32F64, uint32_t, double, static_cast<double>(a));
  UNARY(CastSi64F64, int64_t, double, static_cast<double>(a));
  UNARY(CastUi64F64, uint64_t, double, static_cast<double>(a));
  UNARY(CastF64Si32, double, int32_t, (toInteger<int32_t>(a)));
  UNARY(CastF64Ui32, double, uint32_t, (toInteger<uint32_t>(a)));
  UNARY(CastF64Si64, double, int64_t, (toInteger<int64_t>(a)));
  UNARY(CastF64Ui64, double, uint64_t, (toInteger<uint64_t>(a)));
  UNARY(TruncF64F32, double, float, static_cast<float>(a));
  UNARY(ExtF32F64, float, double, static_cast<double>(a));
  UNARY(BitcastI32F32, uint32_t, float, std::bit_cast<float>(a));
  UNARY(BitcastF32I32, float, uint32_t, std::bit_cast<uint32_t>(a));
  UNARY(BitcastI64F64, uint64_t, double, std::bit_cast<double>(a));
  UNARY(BitcastF64I64, double, uint64_t, std::bit_cast<uint64_t>(a));
#undef BINARY
#undef UNARY
#undef BOTH_UNARY
#undef BOTH_BINARY
#undef BOTH_COMPARE
#undef BOTH_SLOW_UNARY
#undef BOTH_SLOW_BINARY

  put(Op::FmaF32,
      Ternary<float, float, [](float a, float b, float c) { return std::fma(a, b, c); }>::forms());
  put(Op::FmaF64, Ternary<double, double,
                          [](double a, double b, double c) { return std::fma(a, b, c); }>::forms());
}

} // namespace bessemer::vm::interpreter
