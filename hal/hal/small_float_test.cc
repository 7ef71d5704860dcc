#include "hal/hal/small_float.h"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "iree/testing/gtest.h"

namespace bessemer::hal {
namespace {

/// The nearest code by looking at all of them; ties go to the even one.
template <typename Format>
uint32_t nearestCode(double value) {
  uint32_t best = 0;
  double bestDistance = INFINITY;
  for (uint32_t code = 0; code < 256; ++code) {
    const double candidate = Format::decode(code);
    if (!std::isfinite(candidate))
      continue;
    // Zero may have lost its sign.
    if (candidate != 0 && std::signbit(candidate) != std::signbit(value))
      continue;
    const double distance = std::fabs(candidate - value);
    if (distance < bestDistance || (distance == bestDistance && code % 2 == 0)) {
      best = code;
      bestDistance = distance;
    }
  }
  return best;
}

template <typename Format>
void checkEightBitFormat(double largest) {
  for (uint32_t code = 0; code < 256; ++code) {
    const double value = Format::decode(code);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(Format::decode(Format::encode(value))));
    } else {
      EXPECT_EQ(Format::encode(value), code) << value;
      EXPECT_LE(std::isinf(value) ? 0 : std::fabs(value), largest);
    }
  }
  EXPECT_EQ(Format::decode(Format::encode(largest)), largest);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponents(-20, std::log2(largest));
  for (int i = 0; i < 20000; ++i) {
    const double value = std::exp2(exponents(random)) * (i % 2 ? 1 : -1);
    const uint32_t code = Format::encode(value);
    ASSERT_EQ(Format::decode(code), Format::decode(nearestCode<Format>(value))) << value;
  }
}

TEST(SmallFloat, EightBitFormatsRoundToTheNearestCode) {
  checkEightBitFormat<Float8E5M2>(57344);
  checkEightBitFormat<Float8E4M3FN>(448);
  checkEightBitFormat<Float8E5M2FNUZ>(57344);
  checkEightBitFormat<Float8E4M3FNUZ>(240);
}

TEST(SmallFloat, OverflowsToWhatTheFormatHas) {
  EXPECT_TRUE(std::isinf(Float8E5M2::decode(Float8E5M2::encode(1e6))));
  EXPECT_TRUE(std::isnan(Float8E4M3FN::decode(Float8E4M3FN::encode(465))));
  EXPECT_TRUE(std::isnan(Float8E4M3FNUZ::decode(Float8E4M3FNUZ::encode(-1e6))));
  EXPECT_EQ(Float8E5M2FNUZ::encode(-0.0), 0u);
}

TEST(SmallFloat, HalvesAgreeWithTheCompilers) {
  std::mt19937 random(3);
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
    const double expected = static_cast<double>(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(Float16::decode(bits)));
    } else {
      ASSERT_EQ(Float16::decode(bits), expected);
      ASSERT_EQ(Float16::encode(expected), bits);
    }
  }
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(value))
      continue;
    const auto expected = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(Float16::encode(value), expected) << value;
  }
}

TEST(SmallFloat, BrainFloatsAreRoundedFloats) {
  std::mt19937 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value))
      continue;
    // Adding half of the last place, and one less when that is even, rounds the upper half.
    const uint32_t expected = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    ASSERT_EQ(BFloat16::encode(value), expected) << value;
    ASSERT_EQ(BFloat16::decode(bits >> 16), std::bit_cast<float>(bits & 0xFFFF0000u));
  }
}

} // namespace
} // namespace bessemer::hal
