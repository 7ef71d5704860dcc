// The standard library's functions against plain C++: kernels run as one thread over edge values.
#include "metal/msl/scalar_runner.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace bessemer::msl {
namespace {

using Wide = __int128;

template <typename T>
T saturate(Wide value) {
  if (value < Wide(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value > Wide(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

// Division that rounds to minus infinity, as a shift does.
Wide floor_half(Wide value) { return value >= 0 ? value / 2 : -((1 - value) / 2); }

template <typename T>
std::vector<T> edge_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           5,
                           7,
                           100,
                           L::max(),
                           static_cast<T>(L::max() - 1),
                           static_cast<T>(L::max() / 2),
                           static_cast<T>(L::max() / 3),
                           L::min(),
                           static_cast<T>(L::min() + 1)};
  if (std::is_signed_v<T>)
    for (int negative : {-1, -2, -7, -100})
      values.push_back(static_cast<T>(negative));
  return values;
}

// One function: what the kernel writes, and what it must be.
template <typename T>
struct IntegerCase {
  const char* expression;
  T (*expected)(T a, T b, T c);
};

template <typename T>
std::vector<IntegerCase<T>> integer_cases() {
  using U = std::make_unsigned_t<T>;
  static constexpr unsigned kBits = sizeof(T) * 8;
  return {
      {"min(a, b)", [](T a, T b, T) { return std::min(a, b); }},
      {"max(a, b)", [](T a, T b, T) { return std::max(a, b); }},
      {"min3(a, b, c)", [](T a, T b, T c) { return std::min({a, b, c}); }},
      {"max3(a, b, c)", [](T a, T b, T c) { return std::max({a, b, c}); }},
      {"median3(a, b, c)",
       [](T a, T b, T c) {
         T values[] = {a, b, c};
         std::sort(values, values + 3);
         return values[1];
       }},
      {"clamp(a, min(b, c), max(b, c))",
       [](T a, T b, T c) { return std::min(std::max(a, std::min(b, c)), std::max(b, c)); }},
      {"addsat(a, b)", [](T a, T b, T) { return saturate<T>(Wide(a) + Wide(b)); }},
      {"subsat(a, b)", [](T a, T b, T) { return saturate<T>(Wide(a) - Wide(b)); }},
      {"hadd(a, b)", [](T a, T b, T) { return static_cast<T>(floor_half(Wide(a) + Wide(b))); }},
      {"rhadd(a, b)",
       [](T a, T b, T) { return static_cast<T>(floor_half(Wide(a) + Wide(b) + 1)); }},
      {"absdiff(a, b)",
       [](T a, T b, T) { return static_cast<T>(a > b ? Wide(a) - Wide(b) : Wide(b) - Wide(a)); }},
      {"abs(a)", [](T a, T, T) { return static_cast<T>(a < 0 ? -Wide(a) : Wide(a)); }},
      {"mulhi(a, b)", [](T a, T b, T) { return static_cast<T>((Wide(a) * Wide(b)) >> kBits); }},
      {"madhi(a, b, c)",
       [](T a, T b, T c) {
         return static_cast<T>(U(static_cast<T>((Wide(a) * Wide(b)) >> kBits)) + U(c));
       }},
      {"popcount(a)", [](T a, T, T) { return static_cast<T>(std::popcount(U(a))); }},
      {"clz(a)", [](T a, T, T) { return static_cast<T>(std::countl_zero(U(a))); }},
      {"ctz(a)", [](T a, T, T) { return static_cast<T>(std::countr_zero(U(a))); }},
      {"rotate(a, b)",
       [](T a, T b, T) { return static_cast<T>(std::rotl(U(a), int(U(b) % kBits))); }},
      {"reverse_bits(a)",
       [](T a, T, T) {
         U result = 0;
         for (unsigned i = 0; i < kBits; ++i)
           if (U(a) >> i & 1)
             result |= U(U(1) << (kBits - 1 - i));
         return static_cast<T>(result);
       }},
      {"extract_bits(a, 2, 5)",
       [](T a, T, T) {
         U field = U(U(a) >> 2) & 31;
         return static_cast<T>(std::is_signed_v<T> && (field & 16) ? Wide(field) - 32
                                                                   : Wide(field));
       }},
      {"extract_bits(a, 0, sizeof(T) * 8)", [](T a, T, T) { return a; }},
      {"extract_bits(a, 3, 0)", [](T, T, T) { return T(0); }},
      {"insert_bits(a, b, 2, 5)",
       [](T a, T b, T) { return static_cast<T>((U(a) & U(~(U(31) << 2))) | U((U(b) & 31) << 2)); }},
      {"insert_bits(a, b, 1, 0)", [](T a, T, T) { return a; }},
      {"insert_bits(a, b, 0, sizeof(T) * 8)", [](T, T b, T) { return b; }},
  };
}

template <typename T>
void check_integers(const char* name, bool vector) {
  auto cases = integer_cases<T>();
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\ntypedef " +
                       std::string(name) +
                       " T;\nkernel void k(device const T* in [[buffer(0)]], "
                       "device T* out [[buffer(1)]], constant uint& n "
                       "[[buffer(2)]]) {\n  for (uint i = 0; i < n; ++i) {\n";
  std::string type = vector ? std::string(name) + "3" : "T";
  for (const char* operand : {"a", "b", "c"})
    source += "    " + type + " " + operand + " = " + type + "(in[i * 3 + " +
              std::to_string(operand[0] - 'a') + "]);\n";
  for (size_t c = 0; c < cases.size(); ++c)
    source += "    out[i * " + std::to_string(cases.size()) + " + " + std::to_string(c) + "] = " +
              (vector ? "(" + std::string(cases[c].expression) + ").z" : cases[c].expression) +
              ";\n";
  source += "  }\n}\n";
  ScalarRunner runner(source);
  ASSERT_EQ(runner.error(), "");
  std::vector<T> in;
  std::vector<T> values = edge_values<T>();
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j)
      for (T value : {values[i], values[j], values[(i * 7 + j * 3) % values.size()]})
        in.push_back(value);
  auto n = static_cast<uint32_t>(in.size() / 3);
  std::vector<T> out(n * cases.size());
  runner.run("k", {in.data(), out.data(), &n});
  ASSERT_EQ(runner.error(), "");
  for (uint32_t i = 0; i < n; ++i)
    for (size_t c = 0; c < cases.size(); ++c) {
      T a = in[i * 3], b = in[i * 3 + 1], d = in[i * 3 + 2];
      ASSERT_EQ(Wide(out[i * cases.size() + c]) == Wide(cases[c].expected(a, b, d)), true)
          << name << ": " << cases[c].expression << " of " << +a << ", " << +b << ", " << +d
          << " is " << +out[i * cases.size() + c] << ", not " << +cases[c].expected(a, b, d);
    }
}

TEST(StandardLibrary, IntegerFunctionsAreExact) {
  for (bool vector : {false, true}) {
    check_integers<int8_t>("char", vector);
    check_integers<uint8_t>("uchar", vector);
    check_integers<int16_t>("short", vector);
    check_integers<uint16_t>("ushort", vector);
    check_integers<int32_t>("int", vector);
    check_integers<uint32_t>("uint", vector);
    check_integers<int64_t>("long", vector);
    check_integers<uint64_t>("ulong", vector);
  }
}

template <typename T>
void check_madsat(const char* name) {
  ScalarRunner runner("#include <metal_stdlib>\nusing namespace metal;\ntypedef " +
                      std::string(name) +
                      " T;\nkernel void k(device const T* in [[buffer(0)]], device T* out "
                      "[[buffer(1)]], constant uint& n [[buffer(2)]]) {\n"
                      "  for (uint i = 0; i < n; ++i) out[i] = madsat(in[i * 3], in[i * 3 + 1], "
                      "in[i * 3 + 2]);\n}\n");
  ASSERT_EQ(runner.error(), "");
  std::vector<T> in, values = edge_values<T>();
  for (T a : values)
    for (T b : values)
      for (T c : values)
        in.insert(in.end(), {a, b, c});
  auto n = static_cast<uint32_t>(in.size() / 3);
  std::vector<T> out(n);
  runner.run("k", {in.data(), out.data(), &n});
  ASSERT_EQ(runner.error(), "");
  for (uint32_t i = 0; i < n; ++i) {
    // The product of two 64-bit numbers fits, the sum too: only ulong needs 129 bits, and there
    // both are beyond the largest result anyway.
    Wide a = in[i * 3], b = in[i * 3 + 1], c = in[i * 3 + 2], product, sum;
    T expected = __builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum)
                     ? std::numeric_limits<T>::max()
                     : saturate<T>(sum);
    ASSERT_EQ(Wide(out[i]) == Wide(expected), true)
        << name << ": madsat of " << +in[i * 3] << ", " << +in[i * 3 + 1] << ", " << +in[i * 3 + 2]
        << " is " << +out[i] << ", not " << +expected;
  }
}

TEST(StandardLibrary, MadsatSaturatesOnceAtTheEnd) {
  check_madsat<int8_t>("char");
  check_madsat<uint8_t>("uchar");
  check_madsat<int16_t>("short");
  check_madsat<uint16_t>("ushort");
  check_madsat<int32_t>("int");
  check_madsat<uint32_t>("uint");
  check_madsat<int64_t>("long");
  check_madsat<uint64_t>("ulong");
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

// Runs `statements` once for each x with results out[0], out[1], ... as floats.
std::vector<std::vector<float>> run_floats(const std::string& statements,
                                           const std::vector<float>& inputs, unsigned results) {
  ScalarRunner runner("#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device const "
                      "float* in [[buffer(0)]], device float* all [[buffer(1)]], constant uint& n "
                      "[[buffer(2)]]) {\n  for (uint i = 0; i < n; ++i) {\n    float x = in[i];\n"
                      "    device float* out = all + i * " +
                      std::to_string(results) + ";\n" + statements + "\n  }\n}\n");
  EXPECT_EQ(runner.error(), "");
  auto n = static_cast<uint32_t>(inputs.size());
  std::vector<float> in = inputs, out(inputs.size() * results, -12345);
  runner.run("k", {in.data(), out.data(), &n});
  EXPECT_EQ(runner.error(), "");
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < inputs.size(); ++i)
    rows.emplace_back(out.begin() + i * results, out.begin() + (i + 1) * results);
  return rows;
}

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

const std::vector<float> kFloats = {0.0f,  -0.0f,  1.0f,   -1.0f,     0.5f,       -0.5f,
                                    1.5f,  -1.5f,  2.75f,  -2.75f,    1e-7f,      -1e-7f,
                                    1e30f, -1e30f, 3e-39f, kInfinity, -kInfinity, kNaN};

TEST(StandardLibrary, TestsOfFloatsAreCCs) {
  auto rows = run_floats("out[0] = isnan(x); out[1] = isinf(x); out[2] = isfinite(x); out[3] = "
                         "isnormal(x); out[4] = signbit(x); out[5] = isunordered(x, 1.0); out[6] = "
                         "isordered(x, 1.0); float2 v(x, 1); out[7] = isnan(v).x; out[8] = "
                         "isinf(v).x; out[9] = signbit(v).x; half h = half(x); out[10] = isnan(h); "
                         "out[11] = isinf(h);",
                         kFloats, 12);
  for (size_t i = 0; i < kFloats.size(); ++i) {
    float x = kFloats[i];
    const std::vector<float> expected = {
        float(std::isnan(x)),    float(std::isinf(x)),   float(std::isfinite(x)),
        float(std::isnormal(x)), float(std::signbit(x)), float(std::isnan(x)),
        float(!std::isnan(x)),   float(std::isnan(x)),   float(std::isinf(x)),
        float(std::signbit(x)),  float(std::isnan(x)),   float(std::fabs(x) > 65519)};
    EXPECT_EQ(rows[i], expected) << x;
  }
}

TEST(StandardLibrary, CommonFunctionsFollowTheSpecification) {
  auto rows = run_floats("out[0] = sign(x); out[1] = saturate(x); out[2] = step(0.5, x); out[3] = "
                         "mix(1.0, 3.0, x); out[4] = smoothstep(0.0, 2.0, x); out[5] = clamp(x, "
                         "-1.0, 2.0); float2 v = sign(float2(x, 1)); out[6] = v.x; out[7] = "
                         "step(float2(0.5), float2(x)).y;",
                         kFloats, 8);
  for (size_t i = 0; i < kFloats.size(); ++i) {
    float x = kFloats[i];
    float sign = std::isnan(x) ? 0.0f : x > 0 ? 1.0f : x < 0 ? -1.0f : x;
    float step = x < 0.5f ? 0.0f : 1.0f;
    float saturated = std::isnan(x) ? 0.0f : std::fmin(std::fmax(x, 0.0f), 1.0f);
    EXPECT_TRUE(same(rows[i][0], sign) || (std::isnan(x) && rows[i][0] == 0)) << x << rows[i][0];
    EXPECT_EQ(rows[i][1], saturated) << x;
    EXPECT_EQ(rows[i][2], step) << x;
    if (std::isfinite(x))
      EXPECT_EQ(rows[i][3], 1.0f + 2.0f * x) << x;
    if (!std::isnan(x)) {
      float t = std::fmin(std::fmax(x / 2, 0.0f), 1.0f);
      EXPECT_EQ(rows[i][4], t * t * (3 - 2 * t)) << x;
    }
    EXPECT_EQ(rows[i][5], std::fmin(std::fmax(x, -1.0f), 2.0f)) << x;
    EXPECT_TRUE(same(rows[i][6], sign) || (std::isnan(x) && rows[i][6] == 0)) << x;
    EXPECT_EQ(rows[i][7], step) << x;
  }
}

TEST(StandardLibrary, FloatsAreTakenApart) {
  auto rows =
      run_floats("int e; out[0] = frexp(x, e); out[1] = e; float w; out[2] = modf(x, w); "
                 "out[3] = w; out[4] = fract(x); out[5] = copysign(2.5, x); out[6] = fdim(x, "
                 "0.25); out[7] = ldexp(1.5, 3); out[8] = ilogb(x);",
                 kFloats, 9);
  for (size_t i = 0; i < kFloats.size(); ++i) {
    float x = kFloats[i];
    if (x != 0 && !std::isnormal(x) && std::isfinite(x))
      continue; // subnormal: may count as zero
    int exponent = 0;
    float fraction = std::frexp(x, &exponent), whole;
    float rest = std::modf(x, &whole);
    EXPECT_TRUE(same(rows[i][0], fraction)) << x;
    if (std::isfinite(x))
      EXPECT_EQ(rows[i][1], exponent) << x;
    EXPECT_TRUE(same(rows[i][2], rest)) << x << ": " << rows[i][2];
    EXPECT_TRUE(same(rows[i][3], whole)) << x;
    if (std::isfinite(x)) {
      EXPECT_GE(rows[i][4], 0.0f) << x;
      EXPECT_LT(rows[i][4], 1.0f) << x;
      EXPECT_NEAR(rows[i][4], x - std::floor(x), 1e-7) << x;
      if (x != 0)
        EXPECT_EQ(rows[i][8], std::ilogb(x)) << x;
    }
    EXPECT_TRUE(same(rows[i][5], std::copysign(2.5f, x))) << x;
    if (!std::isnan(x))
      EXPECT_EQ(rows[i][6], std::fdim(x, 0.25f)) << x;
    EXPECT_EQ(rows[i][7], 12.0f);
  }
}

TEST(StandardLibrary, GeometryIsThatOfThePlane) {
  auto rows = run_floats(
      "float3 a(1, 2, 2), b(x, 0, 4); out[0] = dot(a, b); float3 c = cross(a, b); out[1] = c.x; "
      "out[2] = c.y; out[3] = c.z; out[4] = length(a); out[5] = distance(a, b); float3 n = "
      "normalize(a); out[6] = n.y; float2 r = reflect(float2(1, -1), float2(0, 1)); out[7] = r.y; "
      "out[8] = faceforward(float2(1, 2), float2(0, 1), float2(0, 1)).y; float2 t = "
      "refract(float2(0, -1), float2(0, 1), 0.5); out[9] = t.y; out[10] = length_squared(b);",
      {3.0f}, 11);
  const std::vector<float> expected = {11, 8, 2, -6, 3, std::sqrt(12.0f), 2.0f / 3, 1, -2, -1, 25};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(rows[0][i], expected[i], 1e-6) << i;
}

TEST(StandardLibrary, PackedIntegersRoundAndComeBack) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* u [[buffer(0)]], device float4* f [[buffer(1)]]) {
  u[0] = pack_float_to_unorm4x8(float4(0, 0.5, 1, 2));
  u[1] = pack_float_to_snorm4x8(float4(-2, -0.5, 0.5, 1));
  u[2] = pack_float_to_unorm2x16(float2(0.25, 1));
  u[3] = pack_float_to_snorm2x16(float2(-1, 0.25));
  u[4] = pack_float_to_unorm10a2(float4(1, 0.5, 0, 1));
  u[5] = pack_float_to_unorm565(float3(1, 0.5, 0));
  u[6] = pack_half_to_unorm4x8(half4(1, 0, 1, 0));
  f[0] = unpack_unorm4x8_to_float(0xff800100u);
  f[1] = unpack_snorm4x8_to_float(0x7f8081ffu);
  f[2] = float4(unpack_unorm2x16_to_float(0xffff0001u), unpack_snorm2x16_to_float(0x80007fffu));
  f[3] = unpack_unorm10a2_to_float(0xbff003ffu);
  f[4].xyz = unpack_unorm565_to_float(ushort(0xf81f));
}
)");
  ASSERT_EQ(runner.error(), "");
  uint32_t u[7] = {};
  alignas(16) float f[20] = {};
  runner.run("k", {u, f});
  ASSERT_EQ(runner.error(), "");
  // 0.5 * 255 = 127.5 and 0.5 * 127 = 63.5 round to even.
  EXPECT_EQ(u[0], 0xffff8000u);
  EXPECT_EQ(u[1], 0x7f40c081u);
  EXPECT_EQ(u[2], 0xffff4000u);
  EXPECT_EQ(u[3], 0x20008001u);
  EXPECT_EQ(u[4], 0xc00803ffu);
  EXPECT_EQ(u[5], 0x041fu);
  EXPECT_EQ(u[6], 0x00ff00ffu);
  const std::vector<float> expected = {
      0, 1 / 255.0f, 128 / 255.0f,   1,        -1 / 127.0f, -1, -1, 1, 1 / 65535.0f, 1, 1, -1,
      1, 0,          1023 / 1023.0f, 2 / 3.0f, 1,           0,  1};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_FLOAT_EQ(f[i], expected[i]) << i;
}

TEST(StandardLibrary, LimitsAreThoseOfTheTypes) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
static_assert(numeric_limits<int>::max() == 2147483647 && numeric_limits<int>::digits == 31, "");
static_assert(numeric_limits<ulong>::max() == 18446744073709551615ul, "");
static_assert(numeric_limits<char>::lowest() == -128 && !numeric_limits<uchar>::is_signed, "");
static_assert(numeric_limits<float>::digits == 24 && numeric_limits<half>::max_exponent == 16, "");
kernel void k(device float* o [[buffer(0)]]) {
  o[0] = numeric_limits<float>::max(); o[1] = numeric_limits<float>::lowest();
  o[2] = numeric_limits<float>::epsilon(); o[3] = numeric_limits<float>::infinity();
  o[4] = float(numeric_limits<half>::max()); o[5] = float(numeric_limits<half>::min());
  o[6] = float(numeric_limits<bfloat>::max()); o[7] = INFINITY; o[8] = M_PI_F; o[9] = FLT_MIN;
  o[10] = float(HALF_EPSILON);
}
)");
  ASSERT_EQ(runner.error(), "");
  float o[11] = {};
  runner.run("k", {o});
  ASSERT_EQ(runner.error(), "");
  using F = std::numeric_limits<float>;
  const std::vector<float> expected = {F::max(),    F::lowest(),     F::epsilon(),   kInfinity,
                                       65504.0f,    6.103515625e-5f, 3.38953139e38f, kInfinity,
                                       3.14159274f, F::min(),        0.0009765625f};
  EXPECT_EQ(std::vector<float>(o, o + 11), expected);
}

} // namespace
} // namespace bessemer::msl
