// How far the vectorised mathematical functions are from the true values, against double precision
// on the host, with the bounds of the Metal Shading Language specification ("Numerical Compliance":
// the tables of relative error as ULP for single precision, for fast math and for half).
#include "metal/cpu/codegen/testing/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace bessemer::metal::cpu {
namespace {

using testing::Kernel;

constexpr size_t samples = 1 << 15;
constexpr double pi = std::numbers::pi;

using One = double (*)(double);
using Two = double (*)(double, double);

// An error bound: in units of the last place, or absolute where `absolute` is set.
struct Function {
  const char* name; // with its namespace: "precise::exp"
  One value;
  double low, high; // arguments
  double bound;     // ULP
  double absolute = 0;
  double per_argument = 0; // ULP more for each whole |2 x|
};

double exp10(double x) { return std::pow(10.0, x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
// With the argument reduced exactly, and exact where the result is.
double sinpi(double x) {
  const double r = std::remainder(x, 2.0);
  return r == std::trunc(r) ? 0 : std::sin(pi * r);
}
double cospi(double x) { return sinpi(0.5 - std::fabs(std::remainder(x, 2.0))); }
double tanpi(double x) {
  const double r = std::remainder(x, 1.0);
  return std::fabs(r) == 0.5 ? std::numeric_limits<double>::infinity() : std::tan(pi * r);
}

const Function single_precision[] = {
    {"precise::acos", std::acos, -1, 1, 4},
    {"precise::acosh", std::acosh, 1, FLT_MAX, 4},
    {"precise::asin", std::asin, -1, 1, 4},
    {"precise::asinh", std::asinh, -FLT_MAX, FLT_MAX, 4},
    {"precise::atan", std::atan, -FLT_MAX, FLT_MAX, 5},
    {"precise::atanh", std::atanh, -0.99999994, 0.99999994, 5},
    {"precise::cos", std::cos, -FLT_MAX, FLT_MAX, 4},
    {"precise::cosh", std::cosh, -90, 90, 4},
    {"precise::cospi", cospi, -1e7, 1e7, 4},
    {"precise::exp", std::exp, -110, 90, 4},
    {"precise::exp2", std::exp2, -155, 129, 4},
    {"precise::exp10", exp10, -46, 39, 4},
    {"precise::log", std::log, FLT_MIN, FLT_MAX, 4},
    {"precise::log2", std::log2, FLT_MIN, FLT_MAX, 4},
    {"precise::log10", std::log10, FLT_MIN, FLT_MAX, 4},
    {"precise::rsqrt", rsqrt, FLT_MIN, FLT_MAX, 0.5001},
    {"precise::sin", std::sin, -FLT_MAX, FLT_MAX, 4},
    {"precise::sinh", std::sinh, -90, 90, 4},
    {"precise::sinpi", sinpi, -1e7, 1e7, 4},
    {"precise::sqrt", std::sqrt, 0, FLT_MAX, 0.5001},
    {"precise::tan", std::tan, -FLT_MAX, FLT_MAX, 6},
    {"precise::tanh", std::tanh, -FLT_MAX, FLT_MAX, 5},
    {"precise::tanpi", tanpi, -1e6, 1e6, 6},
    // Where the specification gives a formula, the bound is what the formula may be off by.
    {"fast::acos", std::acos, -1, 1, 5},
    {"fast::asin", std::asin, -1, 1, 5},
    {"fast::atan", std::atan, -FLT_MAX, FLT_MAX, 5},
    {"fast::cos", std::cos, -pi, pi, 0, 0x1p-13},
    {"fast::cospi", cospi, -1, 1, 0, 0x1p-13},
    {"fast::exp", std::exp, -87, 88, 3, 0, 1},
    {"fast::exp2", std::exp2, -125, 127, 3, 0, 1},
    {"fast::log", std::log, 0.5, 2, 0, 0x1p-21},
    {"fast::log", std::log, 2, FLT_MAX, 3},
    {"fast::log", std::log, FLT_MIN, 0.5, 3},
    {"fast::log2", std::log2, 0.5, 2, 0, 0x1p-21},
    {"fast::log2", std::log2, 2, FLT_MAX, 3},
    {"fast::log2", std::log2, FLT_MIN, 0.5, 3},
    {"fast::rsqrt", rsqrt, FLT_MIN, FLT_MAX, 2},
    {"fast::sin", std::sin, -pi, pi, 0, 0x1p-13},
    {"fast::sinpi", sinpi, -1, 1, 0, 0x1p-13},
    {"fast::tanh", std::tanh, -FLT_MAX, FLT_MAX, 5},
};

struct Function2 {
  const char* name;
  Two value;
  double low, high, low2, high2;
  double bound;
};

const Function2 of_two[] = {
    {"precise::atan2", std::atan2, -FLT_MAX, FLT_MAX, -FLT_MAX, FLT_MAX, 6},
    {"precise::fmod", std::fmod, -1e30, 1e30, -FLT_MAX, FLT_MAX, 0},
    {"precise::fmod", std::fmod, -100, 100, -10, 10, 0},
    {"precise::pow", std::pow, 0, FLT_MAX, -40, 40, 16},
    {"precise::pow", std::pow, 0.9, 1.1, -1000, 1000, 16},
    {"precise::powr", std::pow, 0, 1e6, -6, 6, 16},
    {"fast::fmod", std::fmod, -100, 100, -10, 10, 0},
};

// All of half's mathematical functions have one unit, roots half of one.
const Function half_precision[] = {
    {"acos", std::acos, -1, 1, 1},
    {"acosh", std::acosh, 1, 65504, 1},
    {"asin", std::asin, -1, 1, 1},
    {"asinh", std::asinh, -65504, 65504, 1},
    {"atan", std::atan, -65504, 65504, 1},
    {"atanh", std::atanh, -0.9995, 0.9995, 1},
    {"cos", std::cos, -65504, 65504, 1},
    {"cosh", std::cosh, -12, 12, 1},
    {"cospi", cospi, -65504, 65504, 1},
    {"exp", std::exp, -18, 12, 1},
    {"exp2", std::exp2, -26, 16, 1},
    {"exp10", exp10, -8, 5, 1},
    {"log", std::log, 0x1p-24, 65504, 1},
    {"log2", std::log2, 0x1p-24, 65504, 1},
    {"log10", std::log10, 0x1p-24, 65504, 1},
    {"rsqrt", rsqrt, 0x1p-24, 65504, 0.5001},
    {"sin", std::sin, -65504, 65504, 1},
    {"sinh", std::sinh, -12, 12, 1},
    {"sinpi", sinpi, -65504, 65504, 1},
    {"sqrt", std::sqrt, 0, 65504, 0.5001},
    {"tan", std::tan, -65504, 65504, 1},
    {"tanh", std::tanh, -65504, 65504, 1},
    {"tanpi", tanpi, -512, 512, 1},
};

// Half of the samples spread evenly over the numbers of the range as they are stored (all
// exponents), half over the range as a line.
std::vector<float> arguments(double low, double high, unsigned seed) {
  auto order = [](float x) {
    const int32_t bits = std::bit_cast<int32_t>(x);
    return bits < 0 ? int64_t(INT32_MIN) - bits : int64_t(bits);
  };
  auto number = [](int64_t place) {
    return std::bit_cast<float>(int32_t(place < 0 ? int64_t(INT32_MIN) - place : place));
  };
  const auto words = testing::random_words(samples + seed);
  const int64_t first = order(float(low)), last = order(float(high));
  std::vector<float> result(samples);
  for (size_t i = 0; i < samples; ++i) {
    const double part = double(words[i + seed]) / 4294967296.0;
    float x = i % 2 ? number(first + int64_t(part * double(last - first)))
                    : float(low + part * (high - low));
    // Subnormal arguments may be taken for zero.
    result[i] = std::fabs(x) < FLT_MIN && x != 0 ? std::copysign(FLT_MIN, x) : x;
  }
  result[0] = float(low), result[1] = float(high);
  return result;
}

struct Format {
  int digits, least_exponent;
  double largest;
};
constexpr Format format_float = {24, -126, FLT_MAX}, format_half = {11, -14, 65504};

// The error in units of the last place of `want`; infinite for a wrong NaN or infinity. At a pole
// either infinity will do.
double error_in_ulp(double got, double want, const Format& format, bool is_pole = false) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : infinity;
  const double least = std::ldexp(1.0, format.least_exponent);
  const double unit = std::ldexp(1.0, std::max(format.least_exponent, want == 0 || std::isinf(want)
                                                                          ? format.least_exponent
                                                                          : std::ilogb(want)) -
                                          format.digits + 1);
  if (std::isinf(got) || std::isinf(want)) {
    if (got == want || (std::isinf(got) && std::isinf(want) && is_pole))
      return 0;
    // As if the exponents went on.
    const double beyond = std::ldexp(1.0, std::ilogb(format.largest) + 1);
    const double g = std::isinf(got) ? std::copysign(beyond, got) : got;
    if (std::isinf(want) || std::fabs(want) > beyond)
      return std::isinf(got) && (got > 0) == (want > 0) ? 0 : infinity;
    return std::fabs(g - want) / unit;
  }
  // Subnormal results may be zero.
  if (std::fabs(want) < least && std::fabs(got) <= least)
    return got == 0 || std::fabs(got - want) <= unit ? 0 : std::fabs(got - want) / unit;
  return std::fabs(got - want) / unit;
}

constexpr unsigned group = 256;

// out[i] = f(x[i], y[i]) for all samples.
void evaluate(const std::string& call, const char* type, std::vector<void*> buffers) {
  const std::string source = "#include <metal_stdlib>\nusing namespace metal;\n"
                             "kernel void f(device const " +
                             std::string(type) + "* x [[buffer(0)]], device const " + type +
                             "* y [[buffer(1)]], device " + type +
                             "* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
                             "  out[i] = " +
                             call + ";\n}\n";
  Kernel kernel(source, "f", {group, 1, 1});
  kernel.run(std::move(buffers), {samples / group, 1, 1}, {group, 1, 1});
}

struct Worst {
  double error = 0, excess = -1e300, x = 0, y = 0, got = 0, want = 0;
};

std::string describe(const char* name, const Worst& worst) {
  char text[200];
  std::snprintf(text, sizeof(text), "%s: %.3g at (%.9g, %.9g): %.9g, not %.9g", name, worst.error,
                worst.x, worst.y, worst.got, worst.want);
  return text;
}

TEST(Accuracy, SinglePrecisionIsWithinTheSpecification) {
  for (const Function& function : single_precision) {
    std::vector<float> x = arguments(function.low, function.high, 1), out(samples);
    evaluate(std::string(function.name) + "(x[i])", "float", {x.data(), x.data(), out.data()});
    Worst worst;
    for (size_t i = 0; i < samples; ++i) {
      const double want = function.value(double(x[i]));
      const double error = function.absolute
                               ? std::fabs(double(out[i]) - want)
                               : error_in_ulp(out[i], want, format_float, function.value == tanpi);
      const double bound = function.absolute ? function.absolute
                                             : function.bound + function.per_argument *
                                                                    std::floor(std::fabs(2 * x[i]));
      if (error - bound > worst.excess)
        worst = {error, error - bound, x[i], 0, out[i], want};
    }
    EXPECT_LE(worst.excess, 0) << describe(function.name, worst);
    RecordProperty(function.name, std::to_string(worst.error));
    if (std::getenv("BESSEMER_PRINT_ACCURACY"))
      std::printf("%s\n", describe(function.name, worst).c_str());
  }
}

TEST(Accuracy, FunctionsOfTwoAreWithinTheSpecification) {
  for (const Function2& function : of_two) {
    std::vector<float> x = arguments(function.low, function.high, 1),
                       y = arguments(function.low2, function.high2, 77), out(samples);
    evaluate(std::string(function.name) + "(x[i], y[i])", "float",
             {x.data(), y.data(), out.data()});
    Worst worst;
    for (size_t i = 0; i < samples; ++i) {
      const double want = function.value(double(x[i]), double(y[i]));
      const double error = error_in_ulp(out[i], want, format_float);
      if (error - function.bound > worst.excess)
        worst = {error, error - function.bound, x[i], y[i], out[i], want};
    }
    EXPECT_LE(worst.excess, 0) << describe(function.name, worst);
    if (std::getenv("BESSEMER_PRINT_ACCURACY"))
      std::printf("%s\n", describe(function.name, worst).c_str());
  }
}

TEST(Accuracy, HalfPrecisionIsWithinTheSpecification) {
  for (const Function& function : half_precision) {
    std::vector<float> wide = arguments(function.low, function.high, 1);
    std::vector<_Float16> x(samples), out(samples);
    for (size_t i = 0; i < samples; ++i) {
      x[i] = _Float16(wide[i]);
      if (double(x[i]) < function.low || double(x[i]) > function.high)
        x[i] = _Float16(function.low);
      if (std::fabs(float(x[i])) < 0x1p-14f)
        x[i] = _Float16(function.low);
    }
    evaluate(std::string(function.name) + "(x[i])", "half", {x.data(), x.data(), out.data()});
    Worst worst;
    for (size_t i = 0; i < samples; ++i) {
      const double want = function.value(double(x[i]));
      const double error = error_in_ulp(double(out[i]), want, format_half, function.value == tanpi);
      if (error - function.bound > worst.excess)
        worst = {error, error - function.bound, double(x[i]), 0, double(out[i]), want};
    }
    EXPECT_LE(worst.excess, 0) << describe(function.name, worst);
    if (std::getenv("BESSEMER_PRINT_ACCURACY"))
      std::printf("half %s\n", describe(function.name, worst).c_str());
  }
}

} // namespace
} // namespace bessemer::metal::cpu
