// Every floating-point operation against the C library at a higher precision.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kValues = {0.0,  -0.0,  0.5,   -0.5,      1.0,        -1.0, 1.5,
                                     2.5,  -2.5,  3.25,  0.1,       -7.75,      1e-3, 12.0,
                                     1e10, -1e10, 1e-10, kInfinity, -kInfinity, kNan};

// Letters: f 32-bit float, F 64-bit float, i and I integers. The reference computes in long double
// and is rounded to the result's type once; `ulps` is what the C library may be off by on top.
struct Case {
  Op op;
  std::string operands;
  char result;
  std::function<long double(long double, long double, long double)> reference;
  int ulps = 0;
};

using L = long double;

// Both widths of an operation: its codes are Op::<name>F32 and Op::<name>F64.
#define BOTH(name, arity, ulps, ...)                                                               \
  Case{Op::name##F32, std::string(arity, 'f'), 'f', __VA_ARGS__, ulps}, Case {                     \
    Op::name##F64, std::string(arity, 'F'), 'F', __VA_ARGS__, ulps                                 \
  }
#define BOTH_COMPARE(name, suffix, ...)                                                            \
  Case{Op::name##F32##suffix, "ff", 'i', __VA_ARGS__}, Case {                                      \
    Op::name##F64##suffix, "FF", 'i', __VA_ARGS__                                                  \
  }

bool unordered(L a, L b) { return std::isnan(a) || std::isnan(b); }

const std::vector<Case> kCases = {
    BOTH(Add, 2, 0, [](L a, L b, L) { return a + b; }),
    BOTH(Sub, 2, 0, [](L a, L b, L) { return a - b; }),
    BOTH(Mul, 2, 0, [](L a, L b, L) { return a * b; }),
    BOTH(Div, 2, 0, [](L a, L b, L) { return a / b; }),
    // The sign is the dividend's, as C's fmod and MLIR's arith.remf have it.
    BOTH(Rem, 2, 0, [](L a, L b, L) { return fmodl(a, b); }),
    // The reference rounds twice.
    BOTH(Fma, 3, 1, [](L a, L b, L c) { return fmal(a, b, c); }),
    BOTH(Min, 2, 0, [](L a, L b, L) { return b < a ? b : a; }),
    BOTH(Max, 2, 0, [](L a, L b, L) { return a < b ? b : a; }),
    BOTH(Abs, 1, 0, [](L a, L, L) { return fabsl(a); }),
    BOTH(Neg, 1, 0, [](L a, L, L) { return -a; }),
    BOTH(Ceil, 1, 0, [](L a, L, L) { return ceill(a); }),
    BOTH(Floor, 1, 0, [](L a, L, L) { return floorl(a); }),
    BOTH(Round, 1, 0, [](L a, L, L) { return roundl(a); }),
    Case{Op::RoundF32Even, "f", 'f', [](L a, L, L) { return rintl(a); }},
    Case{Op::RoundF64Even, "F", 'F', [](L a, L, L) { return rintl(a); }},
    BOTH(Sqrt, 1, 0, [](L a, L, L) { return sqrtl(a); }),
    BOTH(Rsqrt, 1, 1, [](L a, L, L) { return 1 / sqrtl(a); }),
    BOTH(Atan, 1, 2, [](L a, L, L) { return atanl(a); }),
    BOTH(Atan2, 2, 2, [](L a, L b, L) { return atan2l(a, b); }),
    BOTH(Cos, 1, 2, [](L a, L, L) { return cosl(a); }),
    BOTH(Sin, 1, 2, [](L a, L, L) { return sinl(a); }),
    BOTH(Exp, 1, 2, [](L a, L, L) { return expl(a); }),
    BOTH(Exp2, 1, 2, [](L a, L, L) { return exp2l(a); }),
    BOTH(Expm1, 1, 2, [](L a, L, L) { return expm1l(a); }),
    BOTH(Log, 1, 2, [](L a, L, L) { return logl(a); }),
    BOTH(Log10, 1, 2, [](L a, L, L) { return log10l(a); }),
    BOTH(Log1p, 1, 2, [](L a, L, L) { return log1pl(a); }),
    BOTH(Log2, 1, 2, [](L a, L, L) { return log2l(a); }),
    BOTH(Pow, 2, 2, [](L a, L b, L) { return powl(a, b); }),
    BOTH(Tanh, 1, 3, [](L a, L, L) { return tanhl(a); }),
    BOTH(Erf, 1, 2, [](L a, L, L) { return erfl(a); }),
    BOTH_COMPARE(CmpEq, O, [](L a, L b, L) -> L { return a == b; }),
    BOTH_COMPARE(CmpEq, U, [](L a, L b, L) -> L { return unordered(a, b) || a == b; }),
    BOTH_COMPARE(CmpNe, O, [](L a, L b, L) -> L { return !unordered(a, b) && a != b; }),
    BOTH_COMPARE(CmpNe, U, [](L a, L b, L) -> L { return unordered(a, b) || a != b; }),
    BOTH_COMPARE(CmpLt, O, [](L a, L b, L) -> L { return a < b; }),
    BOTH_COMPARE(CmpLt, U, [](L a, L b, L) -> L { return unordered(a, b) || a < b; }),
    BOTH_COMPARE(CmpLte, O, [](L a, L b, L) -> L { return a <= b; }),
    BOTH_COMPARE(CmpLte, U, [](L a, L b, L) -> L { return unordered(a, b) || a <= b; }),
    Case{Op::CmpNanF32, "f", 'i', [](L a, L, L) -> L { return std::isnan(a); }},
    Case{Op::CmpNanF64, "F", 'i', [](L a, L, L) -> L { return std::isnan(a); }},
    Case{Op::TruncF64F32, "F", 'f', [](L a, L, L) { return a; }},
    Case{Op::ExtF32F64, "f", 'F', [](L a, L, L) { return a; }},
    Case{Op::SelectF32, "iff", 'f', [](L a, L b, L c) { return a != 0 ? b : c; }},
    Case{Op::SelectF64, "iFF", 'F', [](L a, L b, L c) { return a != 0 ? b : c; }},
    Case{Op::CastSi32F32, "i", 'f', [](L a, L, L) { return a; }},
    Case{Op::CastSi64F32, "I", 'f', [](L a, L, L) { return a; }},
    Case{Op::CastSi32F64, "i", 'F', [](L a, L, L) { return a; }},
    Case{Op::CastSi64F64, "I", 'F', [](L a, L, L) { return a; }},
};

int64_t toInteger(double value) {
  return std::isnan(value)  ? 0
         : value >= 0x1p63  ? INT64_MAX
         : value <= -0x1p63 ? INT64_MIN
                            : static_cast<int64_t>(value);
}

Value valueOf(char letter, double number) {
  switch (letter) {
  case 'f':
    return static_cast<float>(number);
  case 'F':
    return number;
  case 'I':
    return toInteger(number);
  default:
    return static_cast<int32_t>(toInteger(number));
  }
}

L seen(const Value& value) {
  switch (value.type()) {
  case ValueType::F32:
    return value.f32();
  case ValueType::F64:
    return value.f64();
  case ValueType::I64:
    return value.i64();
  default:
    return value.i32();
  }
}

template <class T>
bool near(T found, L reference, int ulps) {
  T expected = static_cast<T>(reference);
  if (std::isnan(expected) || std::isnan(found))
    return std::isnan(expected) == std::isnan(found);
  if (found == expected)
    return std::signbit(found) == std::signbit(expected);
  T low = expected;
  T high = expected;
  for (int k = 0; k < ulps; ++k) {
    low = std::nextafter(low, -std::numeric_limits<T>::infinity());
    high = std::nextafter(high, std::numeric_limits<T>::infinity());
  }
  return found >= low && found <= high;
}

ModuleBuilder moduleFor(Op op, const std::string& operand_letters, char result) {
  FunctionBuilder function("0" + operand_letters + "_" + result, 12, 0);
  function.block();
  std::vector<Operand> operands;
  uint16_t next = 0;
  for (char letter : operand_letters) {
    bool wide = letter == 'F' || letter == 'I';
    if (wide)
      next = (next + 1) & ~1;
    operands.push_back(i(next));
    next += wide ? 2 : 1;
  }
  operands.push_back(i(10));
  function.emit(op, operands);
  function.emit(Op::Return, {list({i(10)})});
  ModuleBuilder module("test");
  module.function("f", function);
  return module;
}

void check(const Case& test) {
  Program program(moduleFor(test.op, test.operands, test.result));
  size_t arity = test.operands.size();
  for (double a : kValues) {
    for (double b : arity > 1 ? kValues : std::vector<double>{0}) {
      for (double c : arity > 2 ? kValues : std::vector<double>{0}) {
        std::vector<Value> arguments;
        double numbers[] = {a, b, c};
        L values[3] = {};
        for (size_t k = 0; k < arity; ++k) {
          arguments.push_back(valueOf(test.operands[k], numbers[k]));
          values[k] = seen(arguments.back());
        }
        auto results = program.call("f", arguments);
        ASSERT_TRUE(results) << results.error().toString();
        L expected = test.reference(values[0], values[1], values[2]);
        const Value& found = (*results)[0];
        bool good = test.result == 'f'   ? near(found.f32(), expected, test.ulps)
                    : test.result == 'F' ? near(found.f64(), expected, test.ulps)
                                         : found.i32() == static_cast<int32_t>(expected);
        ASSERT_TRUE(good) << a << ", " << b << ", " << c << ": " << double(seen(found))
                          << " is not " << double(expected);
      }
    }
  }
}

class Floats : public ::testing::TestWithParam<size_t> {};

TEST_P(Floats, AgreeWithHigherPrecision) { check(kCases[GetParam()]); }

std::string nameOf(const ::testing::TestParamInfo<size_t>& info) {
  std::string name(bytecode::findOp(static_cast<uint32_t>(kCases[info.param].op))->name);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operations, Floats, ::testing::Range(size_t{0}, kCases.size()), nameOf);

TEST(Floats, FmaRoundsOnce) {
  Program narrow(moduleFor(Op::FmaF32, "fff", 'f'));
  auto result = narrow.call("f", {0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f});
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)[0].f32(), 0x1p-46f);
}

template <class Out, class In>
Out convert(Op op, char from, char to, In value) {
  Program program(moduleFor(op, std::string(1, from), to));
  auto results = program.call("f", {Value(value)});
  EXPECT_TRUE(results) << results.error().toString();
  return static_cast<Out>(to == 'i' ? (*results)[0].i32() : (*results)[0].i64());
}

// To nearest, halves away from zero; what does not fit goes to the end of the range.
TEST(Casts, RoundToNearestAndSaturate) {
  EXPECT_EQ((convert<int32_t>(Op::CastF32Si32, 'f', 'i', 2.5f)), 3);
  EXPECT_EQ((convert<int32_t>(Op::CastF32Si32, 'f', 'i', -2.5f)), -3);
  EXPECT_EQ((convert<int32_t>(Op::CastF32Si32, 'f', 'i', 2.4f)), 2);
  EXPECT_EQ((convert<int32_t>(Op::CastF32Si32, 'f', 'i', 3e9f)), INT32_MAX);
  EXPECT_EQ((convert<int32_t>(Op::CastF32Si32, 'f', 'i', -3e9f)), INT32_MIN);
  EXPECT_EQ((convert<int32_t>(Op::CastF32Si32, 'f', 'i', float(kNan))), 0);
  EXPECT_EQ((convert<uint32_t>(Op::CastF32Ui32, 'f', 'i', 3e9f)), 3000000000u);
  EXPECT_EQ((convert<uint32_t>(Op::CastF32Ui32, 'f', 'i', -1.0f)), 0u);
  EXPECT_EQ((convert<uint32_t>(Op::CastF32Ui32, 'f', 'i', 1e20f)), UINT32_MAX);
  EXPECT_EQ((convert<int64_t>(Op::CastF32Si64, 'f', 'I', -1e12f)), -999999995904);
  EXPECT_EQ((convert<int64_t>(Op::CastF32Si64, 'f', 'I', 1e30f)), INT64_MAX);
  EXPECT_EQ((convert<uint64_t>(Op::CastF32Ui64, 'f', 'I', 0x1p63f)), uint64_t{1} << 63);
  EXPECT_EQ((convert<uint64_t>(Op::CastF32Ui64, 'f', 'I', float(kInfinity))), UINT64_MAX);
  EXPECT_EQ((convert<int32_t>(Op::CastF64Si32, 'F', 'i', -0.5)), -1);
  EXPECT_EQ((convert<int32_t>(Op::CastF64Si32, 'F', 'i', 2147483647.0)), INT32_MAX);
  EXPECT_EQ((convert<uint32_t>(Op::CastF64Ui32, 'F', 'i', 4294967295.0)), UINT32_MAX);
  EXPECT_EQ((convert<int64_t>(Op::CastF64Si64, 'F', 'I', -0x1p63)), INT64_MIN);
  EXPECT_EQ((convert<uint64_t>(Op::CastF64Ui64, 'F', 'I', 0x1p64)), UINT64_MAX);
  EXPECT_EQ((convert<uint64_t>(Op::CastF64Ui64, 'F', 'I', 1e18 + 0.0)), 1000000000000000000u);
}

template <class In>
double toReal(Op op, char from, char to, In value) {
  Program program(moduleFor(op, std::string(1, from), to));
  auto results = program.call("f", {Value(value)});
  EXPECT_TRUE(results) << results.error().toString();
  return to == 'f' ? (*results)[0].f32() : (*results)[0].f64();
}

TEST(Casts, ReadUnsignedIntegersAsUnsigned) {
  EXPECT_EQ(toReal(Op::CastUi32F32, 'i', 'f', int32_t{-1}), 4294967296.0);
  EXPECT_EQ(toReal(Op::CastUi32F64, 'i', 'F', int32_t{-1}), 4294967295.0);
  EXPECT_EQ(toReal(Op::CastUi64F32, 'I', 'f', int64_t{-1}), 0x1p64);
  EXPECT_EQ(toReal(Op::CastUi64F64, 'I', 'F', INT64_MIN), 0x1p63);
}

TEST(Casts, BitcastsKeepEveryBit) {
  EXPECT_EQ(convert<uint32_t>(Op::BitcastF32I32, 'f', 'i', -1.5f), 0xBFC00000u);
  EXPECT_EQ(convert<uint64_t>(Op::BitcastF64I64, 'F', 'I', -1.5), 0xBFF8000000000000u);
  EXPECT_EQ(toReal(Op::BitcastI32F32, 'i', 'f', int32_t{0x40490FDB}), 3.14159274101257324);
  EXPECT_EQ(toReal(Op::BitcastI64F64, 'I', 'F', int64_t{0x400921FB54442D18}), 3.141592653589793116);
}

} // namespace
} // namespace bessemer::vm
