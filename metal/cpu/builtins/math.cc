// Metal's mathematical functions for one thread: compiled to bitcode, linked into kernels and
// vectorised with them. Hence no calls, no tables, and selects rather than branches; polynomials on
// reduced arguments (coefficients after Cephes, S. Moshier). Precise versions stay within the units
// in the last place that Metal's specification allows, fast ones (`fast_*`) may lose range.
// Only constants, arithmetic and the builtins below may be used: there is no library behind.

#define MATH(name) asm("bessemer.math." name)

namespace {

using u32 = unsigned int;

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float rint(float x) { return __builtin_rintf(x); }
inline double rint(double x) { return __builtin_rint(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline float copysign(float x, float y) { return __builtin_copysignf(x, y); }
inline int as_int(float x) { return __builtin_bit_cast(int, x); }
inline float as_float(int x) { return __builtin_bit_cast(float, x); }
inline float min(float a, float b) { return a < b ? a : b; }
inline float max(float a, float b) { return a > b ? a : b; }

constexpr float infinity = __builtin_inff();
constexpr float not_a_number = __builtin_nanf("");
constexpr float log2_e = 1.44269504088896341f;
constexpr float ln_2_high = 0.693359375f;
constexpr float ln_2_low = -2.12194440e-4f;
constexpr float ln_2 = 0.693147180559945f;
constexpr float pi = 3.14159265358979f;
constexpr float half_pi = 1.57079632679489662f;

inline float power_of_two(int n) { return as_float((n + 127) << 23); } // -126 <= n <= 127

// x * 2^n for any n that matters, with the right subnormals and overflow.
inline float scale(float x, int n) {
  n = n > 278 ? 278 : n < -278 ? -278 : n;
  int a = n / 3, rest = n - 2 * a;
  return x * power_of_two(a) *
         power_of_two(rest > 126    ? 126
                      : rest < -126 ? -126
                                    : rest) *
         power_of_two(a);
}

// e^r for |r| <= ln 2 / 2.
inline float exp_reduced(float r) {
  float p = 1.9875691500e-4f;
  p = fma(p, r, 1.3981999507e-3f);
  p = fma(p, r, 8.3334519073e-3f);
  p = fma(p, r, 4.1665795894e-2f);
  p = fma(p, r, 1.6666665459e-1f);
  p = fma(p, r, 5.0000001201e-1f);
  return fma(p, r * r, r) + 1.0f;
}

// e^x * 2^shift, which may be finite where e^x is not.
inline float exp_scaled(float x, int shift) {
  float bounded = min(max(x, -104.0f), 90.0f);
  float n = rint(bounded * log2_e);
  float r = fma(n, -ln_2_low, fma(n, -ln_2_high, bounded));
  int k = int(n) + shift, half = k >> 1;
  float result = exp_reduced(r) * power_of_two(half) * power_of_two(k - half);
  return x != x ? x : result;
}

inline float exp(float x) { return exp_scaled(x, 0); }

inline float fast_exp(float x) {
  float bounded = min(max(x, -87.3f), 88.7f);
  float n = rint(bounded * log2_e);
  float r = fma(n, -ln_2_low, fma(n, -ln_2_high, bounded));
  float result = as_float(as_int(exp_reduced(r)) + (int(n) << 23));
  return x < -87.3f ? 0.0f : x > 88.7f ? infinity : result;
}

inline float exp2(float x) {
  float bounded = min(max(x, -150.0f), 129.0f);
  float n = rint(bounded);
  int k = int(n), half = k >> 1;
  float result = exp_reduced((bounded - n) * ln_2) * power_of_two(half) * power_of_two(k - half);
  return x != x ? x : result;
}

inline float fast_exp2(float x) {
  float bounded = min(max(x, -126.0f), 127.99f);
  float n = rint(bounded);
  float result = as_float(as_int(exp_reduced((bounded - n) * ln_2)) + (int(n) << 23));
  return x < -126.0f ? 0.0f : x >= 128.0f ? infinity : result;
}

// x = 2^e * (1 + m) with sqrt(1/2) <= 1 + m < sqrt(2), for x > 0; `y` is log(1 + m) - m.
struct Logarithm {
  float e, m, y;
};
inline Logarithm log_parts(float x) {
  bool subnormal = x < 1.17549435e-38f;
  x = subnormal ? x * 8388608.0f : x;
  int bits = as_int(x), e = (bits - 0x3f3504f3) >> 23;
  float m = as_float(bits - (e << 23)) - 1.0f;
  float p = 7.0376836292e-2f;
  p = fma(p, m, -1.1514610310e-1f);
  p = fma(p, m, 1.1676998740e-1f);
  p = fma(p, m, -1.2420140846e-1f);
  p = fma(p, m, 1.4249322787e-1f);
  p = fma(p, m, -1.6668057665e-1f);
  p = fma(p, m, 2.0000714765e-1f);
  p = fma(p, m, -2.4999993993e-1f);
  p = fma(p, m, 3.3333331174e-1f);
  float z = m * m;
  return {float(subnormal ? e - 23 : e), m, fma(p * m, z, -0.5f * z)};
}
inline float log_special(float x, float result) {
  result = x == 0.0f ? -infinity : result;
  result = x < 0.0f ? not_a_number : result;
  return x == infinity || x != x ? x : result;
}

inline float log(float x) {
  Logarithm l = log_parts(x);
  float y = fma(l.e, ln_2_low, l.y);
  return log_special(x, fma(l.e, ln_2_high, l.m + y));
}
inline float log2(float x) {
  Logarithm l = log_parts(x);
  constexpr float more = 0.44269504088896340736f; // log2(e) - 1
  float z = fma(l.m, more, l.y * more);
  return log_special(x, ((z + l.y) + l.m) + l.e);
}
inline float log10(float x) {
  Logarithm l = log_parts(x);
  constexpr float log10_e = 0.43429448190325182765f, log10_2_high = 3.0078125e-1f,
                  log10_2_low = 2.48745663981195213739e-4f;
  float z = fma(l.e, log10_2_low, l.y * log10_e);
  return log_special(x, fma(l.e, log10_2_high, fma(l.m, log10_e, z)));
}
inline float fast_log2(float x) {
  int bits = as_int(x), e = (bits - 0x3f3504f3) >> 23;
  float m = as_float(bits - (e << 23)) - 1.0f;
  float s = m / (m + 2.0f), z = s * s;
  float p = fma(fma(fma(z, 0.4121985831f, 0.5770780164f), z, 0.9617966939f), z, 2.8853900818f);
  float result = fma(s, p, float(e));
  result = x > 3.0e38f ? x : result;
  return x <= 0.0f ? (x == 0.0f ? -infinity : not_a_number) : result;
}

// x = n * pi / 2 + r with |r| <= pi / 4.
struct Quadrant {
  int n;
  float r;
};
// For 2^29 <= |x|: x / (pi / 2) modulo 4 from those bits of 2 / pi that matter at x's exponent
// (Payne and Hanek).
inline Quadrant reduce_huge(float x) {
  using word = unsigned long;
  const unsigned bits = unsigned(as_int(x)) & 0x7fffffffu;
  const word mantissa = (bits & 0x7fffffu) | 0x800000u;
  // The first bit of 2 / pi whose product with the mantissa is no multiple of 4.
  const unsigned first = (bits >> 23) - 127 - 25, index = first >> 5, shift = first & 31;
  const auto pick = [index](word a, word b, word c, word d) {
    return index == 0 ? a : index == 1 ? b : index == 2 ? c : d;
  };
  const word high =
      pick(0xA2F9836E4E441529, 0x4E441529FC2757D1, 0xFC2757D1F534DDC0, 0xF534DDC0DB629599);
  const word low =
      pick(0xFC2757D1F534DDC0, 0xF534DDC0DB629599, 0xDB6295993C439041, 0x3C439041FE5163AB);
  // 96 bits from there on, and 64 of the product: 2 before the point, 62 behind it.
  const word window = (high << shift) | ((low >> 32) >> (32 - shift));
  const word rest = (low << shift) >> 32;
  const word product = mantissa * window + ((mantissa * rest) >> 32);
  const int n = int((product + (1ul << 61)) >> 62);
  const long fraction = long(product - (word(n) << 62));
  const float r = float(double(fraction) * (1.57079632679489661923 * 0x1p-62));
  return x < 0.0f ? Quadrant{-n, -r} : Quadrant{n, r};
}
inline Quadrant reduce(float x) {
  if (abs(x) > 1.0e9f && x - x == 0.0f)
    return reduce_huge(x);
  double n = rint(double(x) * 0.63661977236758134308);
  n = n > 1.0e9 ? 1.0e9 : n < -1.0e9 ? -1.0e9 : n;
  double r = fma(n, -1.57079632679489655800e+00, double(x));
  r = fma(n, -6.12323399573676603587e-17, r);
  return {int(n), x - x == 0.0f ? float(r) : not_a_number};
}
inline Quadrant fast_reduce(float x) {
  float n = rint(x * 0.636619772f);
  float r = fma(n, -1.5703125f, x);
  r = fma(n, -4.83751296997e-4f, r);
  r = fma(n, -7.54978942e-8f, r);
  return {int(min(max(n, -1.0e9f), 1.0e9f)), r};
}
inline float sin_reduced(float r) {
  float z = r * r;
  float p = fma(fma(-1.9515295891e-4f, z, 8.3321608736e-3f), z, -1.6666654611e-1f);
  return fma(p * z, r, r);
}
inline float cos_reduced(float r) {
  float z = r * r;
  float p = fma(fma(2.443315711809948e-5f, z, -1.388731625493765e-3f), z, 4.166664568298827e-2f);
  return fma(p, z * z, fma(z, -0.5f, 1.0f));
}
inline float sin_of(Quadrant q) {
  float value = q.n & 1 ? cos_reduced(q.r) : sin_reduced(q.r);
  return q.n & 2 ? -value : value;
}
inline float cos_of(Quadrant q) {
  float value = q.n & 1 ? sin_reduced(q.r) : cos_reduced(q.r);
  return (q.n + 1) & 2 ? -value : value;
}
inline float tan_of(Quadrant q) {
  float s = sin_reduced(q.r), c = cos_reduced(q.r);
  return q.n & 1 ? -c / s : s / c;
}
// In half turns: exact reduction.
inline Quadrant reduce_half_turns(float x) {
  float n = rint(x * 2.0f);
  float r = fma(n, -0.5f, x);
  float whole = trunc(n * 0.25f);
  return {int(n - whole * 4.0f), x - x == 0.0f ? r * pi : not_a_number};
}

inline float atan(float x) {
  float a = abs(x);
  bool large = a > 2.414213562373095f, middle = a > 0.4142135623730950f;
  float t = large ? -1.0f / a : middle ? (a - 1.0f) / (a + 1.0f) : a;
  float base = large ? half_pi : middle ? half_pi * 0.5f : 0.0f;
  float z = t * t;
  float p = fma(fma(fma(8.05374449538e-2f, z, -1.38776856032e-1f), z, 1.99777106478e-1f), z,
                -3.33329491539e-1f);
  return copysign(base + fma(p * z, t, t), x);
}

inline float asin_small(float x) { // |x| <= 1/2
  float z = x * x;
  float p = 4.2163199048e-2f;
  p = fma(p, z, 2.4181311049e-2f);
  p = fma(p, z, 4.5470025998e-2f);
  p = fma(p, z, 7.4953002686e-2f);
  p = fma(p, z, 1.6666752422e-1f);
  return fma(p * z, x, x);
}
inline float asin(float x) {
  float a = abs(x);
  bool large = a > 0.5f;
  float s = sqrt(fma(a, -0.5f, 0.5f));
  float t = asin_small(large ? s : a);
  return copysign(large ? half_pi - 2.0f * t : t, x);
}
inline float acos(float x) {
  float a = abs(x);
  bool large = a > 0.5f;
  float t = asin_small(large ? sqrt(fma(a, -0.5f, 0.5f)) : x);
  float near_one = x < 0.0f ? pi - 2.0f * t : 2.0f * t;
  return large ? near_one : half_pi - t;
}
inline float atan2(float y, float x) {
  float ax = abs(x), ay = abs(y);
  float high = max(ax, ay), low = min(ax, ay);
  float ratio = high == 0.0f       ? 0.0f
                : high == infinity ? (low == infinity ? 1.0f : 0.0f)
                                   : low / high;
  float t = atan(ratio);
  t = ay > ax ? half_pi - t : t;
  t = as_int(x) < 0 ? pi - t : t;
  t = copysign(t, y);
  return x != x || y != y ? not_a_number : t;
}

inline float tanh(float x) {
  float a = abs(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = fma(p, z, 2.06390887954e-2f);
  p = fma(p, z, -5.37397155531e-2f);
  p = fma(p, z, 1.33314422036e-1f);
  p = fma(p, z, -3.33332819422e-1f);
  float small = fma(p * z, x, x);
  float large = copysign(1.0f - 2.0f / (fast_exp(2.0f * min(a, 40.0f)) + 1.0f), x);
  return a < 0.625f || x != x ? small : large;
}
inline float sinh(float x) {
  float a = abs(x), z = x * x;
  float p = fma(fma(2.03721912945e-4f, z, 8.33028376239e-3f), z, 1.66667160211e-1f);
  float small = fma(p * z, x, x);
  float e = exp_scaled(a, -1);
  return a < 1.0f || x != x ? small : copysign(e - 0.25f / e, x);
}
inline float cosh(float x) {
  float e = exp_scaled(abs(x), -1);
  return x != x ? x : e + 0.25f / e;
}
inline float asinh(float x) {
  float a = abs(x), z = x * x;
  float p = fma(fma(fma(2.0122003309e-2f, z, -4.2699340972e-2f), z, 7.4847586088e-2f), z,
                -1.6666288134e-1f);
  float small = fma(p * z, x, x);
  float large = a > 1.0e9f ? log(a) + ln_2 : log(a + sqrt(fma(a, a, 1.0f)));
  return a < 0.5f || x != x ? small : copysign(large, x);
}
inline float acosh(float x) {
  float z = x - 1.0f;
  float p = 1.7596881071e-3f;
  p = fma(p, z, -7.5272886713e-3f);
  p = fma(p, z, 2.6454905019e-2f);
  p = fma(p, z, -1.1784741703e-1f);
  p = fma(p, z, 1.4142135263e0f);
  float small = p * sqrt(z);
  float large = x > 1.0e9f ? log(x) + ln_2 : log(x + sqrt(fma(x, x, -1.0f)));
  return x < 1.0f ? not_a_number : z < 0.5f ? small : large;
}
inline float atanh(float x) {
  float a = abs(x), z = x * x;
  float p = 1.81740078349e-1f;
  p = fma(p, z, 8.24370301058e-2f);
  p = fma(p, z, 1.46691431730e-1f);
  p = fma(p, z, 1.99782164500e-1f);
  p = fma(p, z, 3.33337300303e-1f);
  float small = fma(p * z, x, x);
  return a < 0.5f ? small : 0.5f * log((1.0f + x) / (1.0f - x));
}

// x^y for x > 0, through doubles.
inline float positive_pow(float x, float y) {
  bool subnormal = x < 1.17549435e-38f;
  float scaled = subnormal ? x * 8388608.0f : x;
  int bits = as_int(scaled), e = (bits - 0x3f3504f3) >> 23;
  double m = double(as_float(bits - (e << 23)));
  double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 13;
  p = fma(p, z, 1.0 / 11);
  p = fma(p, z, 1.0 / 9);
  p = fma(p, z, 1.0 / 7);
  p = fma(p, z, 1.0 / 5);
  p = fma(p, z, 1.0 / 3);
  p = fma(p, z, 1.0);
  double logarithm = fma(s * p, 2.88539008177792681472, double(subnormal ? e - 23 : e));
  double t = double(y) * logarithm;
  t = t > 300.0 ? 300.0 : t < -300.0 ? -300.0 : t;
  double n = rint(t), r = (t - n) * 0.69314718055994530942;
  double q = 1.0 / 3628800;
  q = fma(q, r, 1.0 / 362880);
  q = fma(q, r, 1.0 / 40320);
  q = fma(q, r, 1.0 / 5040);
  q = fma(q, r, 1.0 / 720);
  q = fma(q, r, 1.0 / 120);
  q = fma(q, r, 1.0 / 24);
  q = fma(q, r, 1.0 / 6);
  q = fma(q, r, 0.5);
  q = fma(q, r, 1.0);
  q = fma(q, r, 1.0);
  double power = __builtin_bit_cast(double, (long long)(int(n) + 1023) << 52);
  return float(q * power);
}
inline float pow(float x, float y) {
  float a = abs(x);
  float result = positive_pow(a == 0.0f || a == infinity || a != a ? 1.0f : a, y);
  result = a == 0.0f ? (y < 0.0f ? infinity : 0.0f) : result;
  result = a == infinity ? (y < 0.0f ? 0.0f : infinity) : result;
  bool infinite_y = abs(y) == infinity;
  float at_infinity = a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? infinity : 0.0f;
  result = infinite_y ? at_infinity : result;
  bool integer = trunc(y) == y;
  float half = y * 0.5f;
  bool odd = integer && trunc(half) != half && abs(y) < 16777216.0f;
  result = as_int(x) < 0 && odd ? -result : result;
  result = x < 0.0f && !integer && !infinite_y && a != infinity ? not_a_number : result;
  result = x != x || y != y ? not_a_number : result;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}

// The remainder, exactly: each pass takes away a multiple of y that a double holds exactly.
inline float fmod(float x, float y) {
  double a = abs(x), b = abs(y);
  bool valid = b > 0.0 && a < double(infinity) && y == y && x == x;
  double r = valid ? a : 0.0, d = valid ? b : 1.0;
  d = d == double(infinity) ? 1.0e300 : d;
  while (r >= d) {
    // The largest d * 2^k not above r, with at most 28 bits of quotient to take.
    double q = r / d;
    double s = 1.0;
    while (q >= 268435456.0) {
      q *= 0x1p-24;
      s *= 0x1p24;
    }
    double step = d * s;
    double whole = double((long long)(r / step));
    r = fma(-whole, step, r);
    r = r < 0.0 ? r + step : r;
  }
  return valid ? copysign(float(r), x) : not_a_number;
}

inline float nextafter(float x, float y) {
  int bits = as_int(x);
  bool away = (x < y) == (x > 0.0f);
  float moved = as_float(away ? bits + 1 : bits - 1);
  float from_zero = copysign(as_float(1), y);
  float result = x == 0.0f ? from_zero : moved;
  result = x == y ? y : result;
  return x != x || y != y ? not_a_number : result;
}

} // namespace

extern "C" {

float math_exp(float x) MATH("exp");
float math_exp(float x) { return exp(x); }
float math_fast_exp(float x) MATH("fast_exp");
float math_fast_exp(float x) { return fast_exp(x); }
float math_exp2(float x) MATH("exp2");
float math_exp2(float x) { return exp2(x); }
float math_fast_exp2(float x) MATH("fast_exp2");
float math_fast_exp2(float x) { return fast_exp2(x); }
float math_exp10(float x) MATH("exp10");
float math_exp10(float x) { return positive_pow(10.0f, min(max(x, -60.0f), 60.0f)); }
float math_fast_exp10(float x) MATH("fast_exp10");
float math_fast_exp10(float x) { return fast_exp2(x * 3.32192809488736f); }
float math_log(float x) MATH("log");
float math_log(float x) { return log(x); }
float math_fast_log(float x) MATH("fast_log");
float math_fast_log(float x) { return fast_log2(x) * ln_2; }
float math_log2(float x) MATH("log2");
float math_log2(float x) { return log2(x); }
float math_fast_log2(float x) MATH("fast_log2");
float math_fast_log2(float x) { return fast_log2(x); }
float math_log10(float x) MATH("log10");
float math_log10(float x) { return log10(x); }
float math_fast_log10(float x) MATH("fast_log10");
float math_fast_log10(float x) { return fast_log2(x) * 0.301029995663981f; }
float math_sin(float x) MATH("sin");
float math_sin(float x) { return sin_of(reduce(x)); }
float math_fast_sin(float x) MATH("fast_sin");
float math_fast_sin(float x) { return sin_of(fast_reduce(x)); }
float math_cos(float x) MATH("cos");
float math_cos(float x) { return cos_of(reduce(x)); }
float math_fast_cos(float x) MATH("fast_cos");
float math_fast_cos(float x) { return cos_of(fast_reduce(x)); }
float math_tan(float x) MATH("tan");
float math_tan(float x) { return tan_of(reduce(x)); }
float math_fast_tan(float x) MATH("fast_tan");
float math_fast_tan(float x) { return tan_of(fast_reduce(x)); }
float math_sincos(float x, float* cosine) MATH("sincos");
float math_sincos(float x, float* cosine) {
  Quadrant q = reduce(x);
  *cosine = cos_of(q);
  return sin_of(q);
}
float math_fast_sincos(float x, float* cosine) MATH("fast_sincos");
float math_fast_sincos(float x, float* cosine) {
  Quadrant q = fast_reduce(x);
  *cosine = cos_of(q);
  return sin_of(q);
}
float math_sinpi(float x) MATH("sinpi");
float math_sinpi(float x) { return sin_of(reduce_half_turns(x)); }
float math_cospi(float x) MATH("cospi");
float math_cospi(float x) { return cos_of(reduce_half_turns(x)); }
float math_tanpi(float x) MATH("tanpi");
float math_tanpi(float x) { return tan_of(reduce_half_turns(x)); }
float math_asin(float x) MATH("asin");
float math_asin(float x) { return asin(x); }
float math_acos(float x) MATH("acos");
float math_acos(float x) { return acos(x); }
float math_atan(float x) MATH("atan");
float math_atan(float x) { return atan(x); }
float math_atan2(float y, float x) MATH("atan2");
float math_atan2(float y, float x) { return atan2(y, x); }
float math_sinh(float x) MATH("sinh");
float math_sinh(float x) { return sinh(x); }
float math_cosh(float x) MATH("cosh");
float math_cosh(float x) { return cosh(x); }
float math_tanh(float x) MATH("tanh");
float math_tanh(float x) { return tanh(x); }
float math_asinh(float x) MATH("asinh");
float math_asinh(float x) { return asinh(x); }
float math_acosh(float x) MATH("acosh");
float math_acosh(float x) { return acosh(x); }
float math_atanh(float x) MATH("atanh");
float math_atanh(float x) { return atanh(x); }
float math_pow(float x, float y) MATH("pow");
float math_pow(float x, float y) { return pow(x, y); }
float math_powr(float x, float y) MATH("powr");
float math_powr(float x, float y) { return x < 0.0f ? not_a_number : pow(x, y); }
float math_fast_pow(float x, float y) MATH("fast_pow");
float math_fast_pow(float x, float y) {
  float result = fast_exp2(y * fast_log2(abs(x)));
  float half = y * 0.5f;
  bool odd = trunc(y) == y && trunc(half) != half;
  result = x < 0.0f ? (trunc(y) != y ? not_a_number : odd ? -result : result) : result;
  return y == 0.0f ? 1.0f : result;
}
float math_fast_powr(float x, float y) MATH("fast_powr");
float math_fast_powr(float x, float y) { return y == 0.0f ? 1.0f : fast_exp2(y * fast_log2(x)); }
float math_fmod(float x, float y) MATH("fmod");
float math_fmod(float x, float y) { return fmod(x, y); }
float math_nextafter(float x, float y) MATH("nextafter");
float math_nextafter(float x, float y) { return nextafter(x, y); }
float math_ldexp(float x, int n) MATH("ldexp");
float math_ldexp(float x, int n) { return scale(x, n); }
int math_ilogb(float x) MATH("ilogb");
int math_ilogb(float x) {
  float a = abs(x);
  bool subnormal = a < 1.17549435e-38f;
  int e = (as_int(subnormal ? a * 8388608.0f : a) >> 23) - (subnormal ? 150 : 127);
  return a == 0.0f ? -2147483647 - 1 : a < infinity ? e : 2147483647;
}
float math_frexp(float x, int* exponent) MATH("frexp");
float math_frexp(float x, int* exponent) {
  float a = abs(x);
  bool subnormal = a < 1.17549435e-38f;
  int bits = as_int(subnormal ? x * 8388608.0f : x);
  bool special = a == 0.0f || !(a < infinity);
  *exponent = special ? 0 : ((bits >> 23) & 255) - (subnormal ? 149 : 126);
  return special ? x : as_float((bits & ~0x7f800000) | 0x3f000000);
}
float math_modf(float x, float* whole) MATH("modf");
float math_modf(float x, float* whole) {
  float t = trunc(x);
  *whole = t;
  return copysign(abs(x) == infinity ? 0.0f : x - t, x);
}

} // extern "C"
