#include "metal/cpu/reference/number.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace bessemer::metal::cpu::reference {
namespace {

template <class T>
T load(const uint8_t* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <class T>
void store(uint8_t* data, T value) {
  std::memcpy(data, &value, sizeof(T));
}

double halfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// To `fraction_bits` below the leading bit and exponents down to `min_exponent`, ties to even:
// works on the value itself, so that nothing is rounded twice.
double roundBits(double value, int fraction_bits, int min_exponent, double largest) {
  if (!std::isfinite(value) || value == 0)
    return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const double unit = std::ldexp(1.0, exponent - fraction_bits);
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::fabs(rounded) > largest ? std::copysign(INFINITY, value) : rounded;
}

uint16_t doubleToHalf(double value) {
  if (std::isnan(value))
    return 0x7E00;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::fabs(roundBits(value, 10, -14, 65504.0));
  if (std::isinf(value))
    return sign | 0x7C00;
  if (value < std::ldexp(1.0, -14))
    return sign | static_cast<uint16_t>(std::ldexp(value, 24));
  const int exponent = std::ilogb(value);
  const auto fraction = static_cast<uint16_t>(std::ldexp(value, 10 - exponent)) & 1023;
  return static_cast<uint16_t>(sign | (exponent + 15) << 10 | fraction);
}

constexpr double kLargestBFloat = 3.38953138925153547590e+38;

} // namespace

double roundTo(Format format, double value) {
  switch (format) {
  case Format::Half:
    return roundBits(value, 10, -14, 65504.0);
  case Format::BFloat:
    return roundBits(value, 7, -126, kLargestBFloat);
  case Format::Float:
    return static_cast<float>(value);
  default:
    return value;
  }
}

double readFloat(const Type& type, const uint8_t* data, unsigned element) {
  data += size_t{element} * type.elementBytes();
  switch (type.format) {
  case Format::Half:
    return halfToDouble(load<uint16_t>(data));
  case Format::BFloat:
    return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(data)) << 16);
  default:
    return load<float>(data);
  }
}

void writeFloat(const Type& type, uint8_t* data, unsigned element, double value) {
  data += size_t{element} * type.elementBytes();
  switch (type.format) {
  case Format::Half:
    store(data, doubleToHalf(value));
    break;
  case Format::BFloat: {
    const float rounded =
        std::isnan(value) ? NAN : static_cast<float>(roundTo(Format::BFloat, value));
    store(data, static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded) >> 16));
    break;
  }
  default:
    store(data, static_cast<float>(value));
  }
}

int64_t readInteger(const Type& type, const uint8_t* data, unsigned element) {
  data += size_t{element} * type.elementBytes();
  switch (type.elementBytes()) {
  case 1:
    if (type.bits == 1)
      return *data & 1;
    return type.is_signed ? int64_t{load<int8_t>(data)} : int64_t{*data};
  case 2:
    return type.is_signed ? int64_t{load<int16_t>(data)} : int64_t{load<uint16_t>(data)};
  case 4:
    return type.is_signed ? int64_t{load<int32_t>(data)} : int64_t{load<uint32_t>(data)};
  default:
    return load<int64_t>(data);
  }
}

void writeInteger(const Type& type, uint8_t* data, unsigned element, int64_t value) {
  data += size_t{element} * type.elementBytes();
  switch (type.elementBytes()) {
  case 1:
    *data = static_cast<uint8_t>(type.bits == 1 ? value & 1 : value);
    break;
  case 2:
    store(data, static_cast<uint16_t>(value));
    break;
  case 4:
    store(data, static_cast<uint32_t>(value));
    break;
  default:
    store(data, value);
  }
}

} // namespace bessemer::metal::cpu::reference
