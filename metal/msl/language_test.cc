// MSL's own rules: address spaces, types, attributes, literals. Kernels run as one thread.
#include "metal/msl/compiler.h"
#include "metal/msl/scalar_runner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace bessemer::msl {
namespace {

TEST(Language, OverloadsAreChosenByAddressSpace) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
struct S {
  int v;
  int id() thread { return 1; }
  int id() device { return 2; }
  int id() constant { return 3; }
  int id() threadgroup { return 4; }
  int id2() const thread { return 11; }
  int id2() const device { return 12; }
  int id2() const constant { return 13; }
  int id2() const threadgroup { return 14; }
  operator int() const thread { return 21; }
  operator int() const device { return 22; }
  operator int() const constant { return 23; }
  operator int() const threadgroup { return 24; }
  int plain() const { return v; }
};
int f(thread S&) { return 31; }
int f(device S&) { return 32; }
int f(constant S&) { return 33; }
int f(threadgroup S&) { return 34; }
int g(const thread S*) { return 41; }
int g(const device S*) { return 42; }
int g(constant S*) { return 43; }
int g(const threadgroup S*) { return 44; }
template <class T> int h(const thread T&) { return 51; }
template <class T> int h(const device T&) { return 52; }
template <class T> int h(constant T&) { return 53; }
template <class T> int h(const threadgroup T&) { return 54; }
template <class T> struct TS {
  T x;
  thread T& at() thread { x = 61; return x; }
  device T& at() device { x = 62; return x; }
  threadgroup T& at() threadgroup { x = 64; return x; }
  int out_of_class() const device;
};
template <class T> int TS<T>::out_of_class() const device { return x + 100; }
kernel void k(device S* d [[buffer(0)]], constant S& c [[buffer(1)]], device int* o [[buffer(2)]],
              const device S* cd [[buffer(3)]], device TS<int>* td [[buffer(4)]]) {
  threadgroup S t;
  S l = *d;
  const S cl = *d;
  threadgroup TS<int> tt;
  TS<int> lt;
  int i = 0;
  o[i++] = l.id(); o[i++] = d->id(); o[i++] = t.id();
  o[i++] = l.id2(); o[i++] = d->id2(); o[i++] = c.id2(); o[i++] = t.id2(); o[i++] = cl.id2(); o[i++] = cd->id2();
  o[i++] = l; o[i++] = *d; o[i++] = c; o[i++] = t; o[i++] = cl; o[i++] = *cd;
  o[i++] = f(l); o[i++] = f(*d); o[i++] = f(t);
  o[i++] = g(&l); o[i++] = g(d); o[i++] = g(&c); o[i++] = g(&t); o[i++] = g(cd);
  o[i++] = h(l); o[i++] = h(*d); o[i++] = h(c); o[i++] = h(t); o[i++] = h(*cd); o[i++] = h(S());
  o[i++] = lt.at(); o[i++] = td->at(); o[i++] = tt.at();
  o[i++] = td->out_of_class();
  t = *d;
  o[i++] = d->plain() + c.plain() + t.plain();
}
)");
  ASSERT_EQ(runner.error(), "");
  int32_t d = 5, c = 7, td = 0;
  std::vector<int32_t> out(64, -1);
  runner.run("k", {&d, &c, out.data(), &d, &td});
  ASSERT_EQ(runner.error(), "");
  const std::vector<int32_t> expected = {1,  2,  4,  11, 12, 13, 14, 11, 12,  21, 22, 23,
                                         24, 21, 22, 31, 32, 34, 41, 42, 43,  44, 42, 51,
                                         52, 53, 54, 52, 51, 61, 62, 64, 162, 17};
  out.resize(expected.size());
  EXPECT_EQ(out, expected);
}

TEST(Language, TypesHaveMetalsSizesAndAlignments) {
  llvm::LLVMContext context;
  Compilation compilation = compile(R"(
#include <metal_stdlib>
using namespace metal;
#define CHECK(T, size, align) static_assert(sizeof(T) == size && alignof(T) == align, #T)
CHECK(bool, 1, 1); CHECK(bool2, 2, 2); CHECK(bool3, 4, 4); CHECK(bool4, 4, 4);
CHECK(char, 1, 1); CHECK(char2, 2, 2); CHECK(char3, 4, 4); CHECK(uchar4, 4, 4);
CHECK(short, 2, 2); CHECK(short2, 4, 4); CHECK(ushort3, 8, 8); CHECK(short4, 8, 8);
CHECK(int, 4, 4); CHECK(int2, 8, 8); CHECK(uint3, 16, 16); CHECK(int4, 16, 16);
CHECK(long, 8, 8); CHECK(long2, 16, 16); CHECK(ulong3, 32, 32); CHECK(ulong4, 32, 32);
CHECK(half, 2, 2); CHECK(half2, 4, 4); CHECK(half3, 8, 8); CHECK(half4, 8, 8);
CHECK(bfloat, 2, 2); CHECK(bfloat4, 8, 8);
CHECK(float, 4, 4); CHECK(float2, 8, 8); CHECK(float3, 16, 16); CHECK(float4, 16, 16);
CHECK(size_t, 8, 8); CHECK(ptrdiff_t, 8, 8); CHECK(device float*, 8, 8);
CHECK(packed_char3, 3, 1); CHECK(packed_half3, 6, 2); CHECK(packed_float2, 8, 4);
CHECK(packed_float3, 12, 4); CHECK(packed_uint4, 16, 4); CHECK(packed_long2, 16, 8);
CHECK(float2x2, 16, 8); CHECK(float2x3, 32, 16); CHECK(float3x3, 48, 16); CHECK(float4x4, 64, 16);
CHECK(half3x3, 24, 8); CHECK(half4x2, 16, 4);
CHECK(atomic_int, 4, 4); CHECK(atomic_ulong, 8, 8); CHECK(atomic_bool, 1, 1);
template <class A, class B> struct same { static constexpr constant bool value = false; };
template <class A> struct same<A, A> { static constexpr constant bool value = true; };
static_assert(same<decltype(0.5), float>::value, "a literal is a float");
static_assert(same<decltype(1.0h), half>::value, "");
static_assert(same<decltype(half(1) * half(2)), half>::value, "halves stay halves");
static_assert(same<decltype(float4().xy), float2>::value, "");
)",
                                    {}, context);
  EXPECT_TRUE(compilation.module) << compilation.diagnostics;
}

TEST(Language, VectorsSwizzleAssignIndexAndConvert) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
constant float4 table[2] = {float4(1, 2, 3, 4), float4(0.5)};
kernel void k(device float4* d [[buffer(0)]], device float* o [[buffer(1)]], constant uint& n [[buffer(2)]]) {
  float4 v = d[0];
  o[0] = v.x; o[1] = v.a; o[2] = v.wzyx.y; o[3] = dot(v.xxyy, float4(1));
  v.xy = v.zw; o[4] = v.x; o[5] = v.y;
  v.zyx += float3(10, 20, 30); o[6] = v.x; o[7] = v.y; o[8] = v.z;
  v[1] = 100; v[n] += 5; o[9] = v.y; o[10] = v[2];
  d[1].xz = v.yw; d[1].w *= 2; d[1][1] = 7;
  o[11] = float4(int4(d[0] + 0.75)).z;
  float4 u(v.xy, 1, 2); o[12] = u.w; u = float4(1, v.yz, 3); o[13] = u.y;
  o[14] = table[1].z + table[0].w;
  bool4 b = d[0] > 2.0; o[15] = b.x ? 1 : 0; o[16] = all(b.zw) ? 1 : 0; o[17] = any(b.xy) ? 1 : 0;
  o[18] = select(float4(1), float4(2), b).w;
  packed_float3 p = float3(1, 2, 3); p = p * 2; o[19] = p[2]; o[20] = float3(p).y;
  uchar4 c = uchar4(250); c += uchar4(10); o[21] = c.x;
  o[22] = float(char(n) - 3);
  int4 shifted = int4(-8) >> 1; o[23] = shifted.x;
  o[24] = as_type<float>(as_type<uint>(1.5f));
  half2 h = half2(d[0].xy); o[25] = float(h.x + h.y);
  o[26] = as_type<float>(as_type<uint>(half2(1.0h, 2.0h)) >> 16 | 0x40000000u) > 2 ? 1 : 0;
  o[27] = (n > 1 ? d[0] : table[0]).y;
}
)");
  ASSERT_EQ(runner.error(), "");
  alignas(16) float d[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> o(32, -1);
  uint32_t n = 2;
  runner.run("k", {d, o.data(), &n});
  ASSERT_EQ(runner.error(), "");
  const std::vector<float> expected = {1,    4, 3, 6, 3, 4, 33, 24, 13, 100, 18,   3, 2, 100,
                                       4.5f, 0, 1, 0, 2, 6, 4,  4,  -1, -4,  1.5f, 3, 1, 2};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(o[i], expected[i]) << "o[" << i << "]";
  EXPECT_EQ(d[4], 100.0f);
  EXPECT_EQ(d[5], 7.0f);
  EXPECT_EQ(d[6], 4.0f);
  EXPECT_EQ(d[7], 16.0f);
}

TEST(Language, FloatToIntegerSaturatesAtThirtyTwoBits) {
  ScalarRunner runner(R"(
kernel void k(device const float* x [[buffer(0)]], device int* i [[buffer(1)]], device uint* u [[buffer(2)]],
              device char* c [[buffer(3)]]) {
  for (int n = 0; n < 6; ++n) { i[n] = int(x[n]); u[n] = uint(x[n]); c[n] = char(x[n]); }
}
)");
  ASSERT_EQ(runner.error(), "");
  float x[] = {3e9f, -3e9f, 1e30f, __builtin_nanf(""), -1.75f, 300.0f};
  int32_t i[6];
  uint32_t u[6];
  int8_t c[6];
  runner.run("k", {x, i, u, c});
  EXPECT_EQ(std::vector<int32_t>(i, i + 6),
            (std::vector<int32_t>{INT32_MAX, INT32_MIN, INT32_MAX, 0, -1, 300}));
  EXPECT_EQ(std::vector<uint32_t>(u, u + 6),
            (std::vector<uint32_t>{3000000000u, 0, UINT32_MAX, 0, 0, 300}));
  EXPECT_EQ(std::vector<int8_t>(c, c + 6), (std::vector<int8_t>{-1, 0, -1, 0, -1, 44}));
}

TEST(Language, HalfAndBfloatConvertThroughFloat) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
kernel void k(device const half* h [[buffer(0)]], device bfloat* b [[buffer(1)]], device float* f [[buffer(2)]]) {
  b[0] = static_cast<bfloat>(h[0]);
  b[1] = bfloat(1.0f) + bfloat(2.0f);
  f[0] = float(b[0]);
  f[1] = float(static_cast<half>(b[1]));
  bfloat4 v = bfloat4(float4(1, 2, 3, 4)); f[2] = float(v.w);
  half4 w = half4(v); f[3] = float(w.z);
}
)");
  ASSERT_EQ(runner.error(), "");
  uint16_t h[] = {0x3e00}, b[2] = {}; // 1.5
  float f[4] = {};
  runner.run("k", {h, b, f});
  ASSERT_EQ(runner.error(), "");
  EXPECT_EQ(b[0], 0x3fc0); // 1.5
  EXPECT_EQ(b[1], 0x4040); // 3
  EXPECT_EQ(f[0], 1.5f);
  EXPECT_EQ(f[1], 3.0f);
  EXPECT_EQ(f[2], 4.0f);
  EXPECT_EQ(f[3], 3.0f);
}

TEST(Language, ConditionalMixesAddressSpaces) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
struct P { float3 v; int n; };
kernel void k(device P* d [[buffer(0)]], constant P& c [[buffer(1)]], device int* o [[buffer(2)]]) {
  threadgroup P t;
  t = c;
  P a = o[0] ? *d : c;
  P b = o[0] ? c : t;
  o[1] = a.n * 100 + b.n * 10 + (o[0] ? d->n : t.n);
}
)");
  ASSERT_EQ(runner.error(), "");
  struct alignas(16) P {
    float v[4];
    int32_t n;
    int32_t rest[3];
  } d{{1, 2, 3, 0}, 4, {}}, c{{5, 6, 7, 0}, 8, {}};
  int32_t o[2] = {1, 0};
  runner.run("k", {&d, &c, o});
  EXPECT_EQ(o[1], 484);
  o[0] = 0;
  runner.run("k", {&d, &c, o});
  EXPECT_EQ(o[1], 888);
}

TEST(Language, ConditionalOfTemplatesEndsAfterTheirArguments) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
template <class T, int N> struct S { T n; S(T x) : n(x + N) {} };
int pick(int a, int b, bool c) { return c ? a : b; }
kernel void k(device int* o [[buffer(0)]]) {
  int n = o[0];
  vec<int, 4> v = n > 1 ? vec<int, 4>(n) : vec<int, 4>(n, 2, 3, 4);
  o[1] = v.x + 10 * v.w;
  o[2] = n > 1 ? S<int, 3>(n).n : S<int, metal::max(4, 5)>(n).n;
  o[3] = pick(n > 1 ? n : 7, n < 2 ? 30 : n, n > 2);
}
)");
  ASSERT_EQ(runner.error(), "");
  int32_t o[4] = {5};
  runner.run("k", {o});
  EXPECT_EQ(o[1], 55);
  EXPECT_EQ(o[2], 8);
  EXPECT_EQ(o[3], 5);
  o[0] = 1;
  runner.run("k", {o});
  EXPECT_EQ(o[1], 41);
  EXPECT_EQ(o[2], 6);
  EXPECT_EQ(o[3], 30);
}

TEST(Language, ArraysOfTemplatesIndexInEverySpace) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
template <typename T, size_t Num> struct Arr { T elements[Num ? Num : 1];
  thread T& operator[](size_t pos) thread { return elements[pos]; }
  constexpr const thread T& operator[](size_t pos) const thread { return elements[pos]; }
  device T& operator[](size_t pos) device { return elements[pos]; }
  constexpr const device T& operator[](size_t pos) const device { return elements[pos]; }
  constexpr const constant T& operator[](size_t pos) const constant { return elements[pos]; }
  threadgroup T& operator[](size_t pos) threadgroup { return elements[pos]; }
  constexpr const threadgroup T& operator[](size_t pos) const threadgroup { return elements[pos]; } };
constant Arr<float, 4> _k = Arr<float, 4>({0.5, 2.0, 3.0, 4.0});
kernel void k(device Arr<float, 4>* d [[buffer(0)]], device float* o [[buffer(1)]], constant uint& n [[buffer(2)]]) {
  Arr<float, 4> t = Arr<float, 4>({0.0, 1.0, 2.0, 3.0});
  Arr<Arr<float, 2>, 3> nested;
  nested[1][0] = t[n & 3u];
  t = _k;
  threadgroup Arr<float, 2> s;
  s[1] = 8;
  o[0] = t[2] + nested[1][0] + (*d)[n] + _k[n] + s[1];
  array<int, 3> a = {1, 2, 3};
  a[1] = 20; o[1] = a[0] + a[1] + a[2] + a.size();
}
)");
  ASSERT_EQ(runner.error(), "");
  float d[4] = {10, 20, 30, 40}, o[2] = {};
  uint32_t n = 3;
  runner.run("k", {d, o, &n});
  EXPECT_EQ(o[0], 3 + 3 + 40 + 4 + 8);
  EXPECT_EQ(o[1], 27);
}

TEST(Language, MatricesMultiplyByColumns) {
  ScalarRunner runner(R"(
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* o [[buffer(0)]]) {
  float2x3 a = float2x3(float3(1, 2, 3), float3(4, 5, 6));
  float3x2 b = float3x2(1, 0, 0, 1, 2, 2);
  float3x3 c = a * b;
  o[0] = c[0][0]; o[1] = c[1][2]; o[2] = c[2][1];
  float3 v = a * float2(1, 10); o[3] = v.y;
  float2 w = float3(1, 1, 1) * a; o[4] = w.x; o[5] = w.y;
  o[6] = determinant(float2x2(1, 2, 3, 4)); o[7] = transpose(a)[1][0];
  float4x4 id(1); id[2][1] = 5; o[8] = (id * float4(1, 2, 3, 4)).y;
  o[9] = determinant(float4x4(float4(2, 0, 0, 1), float4(0, 3, 0, 0), float4(0, 1, 4, 0), float4(1, 0, 0, 1)));
}
)");
  ASSERT_EQ(runner.error(), "");
  float o[10] = {};
  runner.run("k", {o});
  const std::vector<float> expected = {1, 6, 14, 52, 6, 15, -2, 2, 17, 12};
  EXPECT_EQ(std::vector<float>(o, o + 10), expected);
}

} // namespace
} // namespace bessemer::msl
