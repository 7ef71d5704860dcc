#pragma once

#include <cmath>
#include <cstdint>

namespace bessemer::hal {

/// What a floating point format of 16 bits or less does at its upper end.
enum class SmallFloatKind {
  /// Infinities and NaNs in the highest exponent.
  Ieee,
  /// No infinity; all ones is NaN ("FN").
  Finite,
  /// No infinity, no negative zero; the code of negative zero is NaN ("FNUZ").
  FiniteUnsignedZero,
};

/// A binary format with a sign bit, `ExponentBits` and `MantissaBits`.
template <int ExponentBits, int MantissaBits, int Bias, SmallFloatKind Kind>
struct SmallFloat {
  static constexpr uint32_t kSignBit = 1u << (ExponentBits + MantissaBits);
  static constexpr uint32_t kMantissaOne = 1u << MantissaBits;
  static constexpr uint32_t kExponentOnes = ((1u << ExponentBits) - 1) << MantissaBits;
  static constexpr uint32_t kNan = Kind == SmallFloatKind::Ieee ? kExponentOnes | kMantissaOne >> 1
                                   : Kind == SmallFloatKind::Finite ? kSignBit - 1
                                                                    : kSignBit;
  static constexpr uint32_t kMaxFinite = Kind == SmallFloatKind::Ieee     ? kExponentOnes - 1
                                         : Kind == SmallFloatKind::Finite ? kSignBit - 2
                                                                          : kSignBit - 1;
  static constexpr uint32_t kOverflow = Kind == SmallFloatKind::Ieee ? kExponentOnes : kNan;
  static constexpr int kMinExponent = 1 - Bias;

  static double decode(uint32_t bits) {
    const bool negative = bits & kSignBit;
    const uint32_t magnitude = bits & (kSignBit - 1);
    double value;
    if (Kind == SmallFloatKind::Ieee && magnitude == kExponentOnes) {
      value = INFINITY;
    } else if (Kind == SmallFloatKind::FiniteUnsignedZero ? bits == kNan : magnitude > kMaxFinite) {
      return NAN;
    } else if (magnitude < kMantissaOne) {
      value = std::ldexp(magnitude, kMinExponent - MantissaBits);
    } else {
      const int exponent = static_cast<int>(magnitude >> MantissaBits) - Bias;
      value = std::ldexp((magnitude & (kMantissaOne - 1)) | kMantissaOne, exponent - MantissaBits);
    }
    return negative ? -value : value;
  }

  /// Rounds to nearest, ties to even.
  static uint32_t encode(double value) {
    if (std::isnan(value))
      return kNan;
    uint32_t sign = std::signbit(value) ? kSignBit : 0;
    const double magnitude = std::fabs(value);
    uint32_t code = 0;
    if (std::isinf(magnitude)) {
      code = kOverflow;
    } else if (magnitude != 0) {
      int exponent = std::ilogb(magnitude);
      if (exponent < kMinExponent)
        exponent = kMinExponent;
      // In units of the last place; a carry out of the mantissa runs into the exponent field.
      const auto units = std::nearbyint(std::ldexp(magnitude, MantissaBits - exponent));
      const double coded =
          units + static_cast<double>(exponent - kMinExponent) * static_cast<double>(kMantissaOne);
      code = coded > kMaxFinite ? kOverflow : static_cast<uint32_t>(coded);
    }
    if (Kind == SmallFloatKind::FiniteUnsignedZero && (code == 0 || code == kNan))
      return code;
    return code | sign;
  }
};

using Float16 = SmallFloat<5, 10, 15, SmallFloatKind::Ieee>;
using BFloat16 = SmallFloat<8, 7, 127, SmallFloatKind::Ieee>;
using Float8E5M2 = SmallFloat<5, 2, 15, SmallFloatKind::Ieee>;
using Float8E4M3FN = SmallFloat<4, 3, 7, SmallFloatKind::Finite>;
using Float8E5M2FNUZ = SmallFloat<5, 2, 16, SmallFloatKind::FiniteUnsignedZero>;
using Float8E4M3FNUZ = SmallFloat<4, 3, 8, SmallFloatKind::FiniteUnsignedZero>;

/// A power of two without sign or zero: 2^(code - 127), all ones is NaN.
struct Float8E8M0FNU {
  static double decode(uint32_t bits) {
    return bits == 0xFF ? NAN : std::ldexp(1.0, static_cast<int>(bits) - 127);
  }
  static uint32_t encode(double value) {
    if (!(value > 0) || std::isinf(value))
      return value == 0 ? 0 : 0xFF;
    const double exponent = std::nearbyint(std::log2(value)) + 127;
    return exponent < 0 ? 0 : exponent > 254 ? 0xFF : static_cast<uint32_t>(exponent);
  }
};

} // namespace bessemer::hal
