#include "metal/cpu/reference/operations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

namespace bessemer::metal::cpu::reference {

using air::Operation;
using air::OperationGroup;

bool isCollective(OperationGroup group) {
  return group == OperationGroup::Simdgroup || group == OperationGroup::Quadgroup ||
         group == OperationGroup::Matrix || group == OperationGroup::Barrier;
}

namespace {

using Unary = double (*)(double);

double sign(double x) { return std::isnan(x) ? 0.0 : x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
double fract(double x) {
  // The largest float below one, as the specification says.
  return std::min(x - std::floor(x), 0x1.fffffep-1);
}
double saturate(double x) { return std::fmin(std::fmax(x, 0.0), 1.0); }

// Reduced before it is scaled, so that whole and half turns are exact.
double turn(double x) { return std::remainder(x, 2.0); }

Unary unary(Operation operation) {
  switch (operation) {
  case Operation::Acos:
    return [](double x) { return std::acos(x); };
  case Operation::Acosh:
    return [](double x) { return std::acosh(x); };
  case Operation::Asin:
    return [](double x) { return std::asin(x); };
  case Operation::Asinh:
    return [](double x) { return std::asinh(x); };
  case Operation::Atan:
    return [](double x) { return std::atan(x); };
  case Operation::Atanh:
    return [](double x) { return std::atanh(x); };
  case Operation::Ceil:
    return [](double x) { return std::ceil(x); };
  case Operation::Cos:
    return [](double x) { return std::cos(x); };
  case Operation::Cosh:
    return [](double x) { return std::cosh(x); };
  case Operation::CosPi:
    return [](double x) { return std::cos(turn(x) * std::numbers::pi); };
  case Operation::Exp:
    return [](double x) { return std::exp(x); };
  case Operation::Exp10:
    return [](double x) { return std::pow(10.0, x); };
  case Operation::Exp2:
    return [](double x) { return std::exp2(x); };
  case Operation::FAbs:
    return [](double x) { return std::fabs(x); };
  case Operation::Floor:
    return [](double x) { return std::floor(x); };
  case Operation::Fract:
    return fract;
  case Operation::Log:
    return [](double x) { return std::log(x); };
  case Operation::Log10:
    return [](double x) { return std::log10(x); };
  case Operation::Log2:
    return [](double x) { return std::log2(x); };
  case Operation::Rint:
    return [](double x) { return std::nearbyint(x); };
  case Operation::Round:
    return [](double x) { return std::round(x); };
  case Operation::Rsqrt:
    return [](double x) { return 1.0 / std::sqrt(x); };
  case Operation::Saturate:
    return saturate;
  case Operation::Sign:
    return sign;
  case Operation::Sin:
    return [](double x) { return std::sin(x); };
  case Operation::Sinh:
    return [](double x) { return std::sinh(x); };
  case Operation::SinPi:
    return [](double x) { return std::sin(turn(x) * std::numbers::pi); };
  case Operation::Sqrt:
    return [](double x) { return std::sqrt(x); };
  case Operation::Tan:
    return [](double x) { return std::tan(x); };
  case Operation::Tanh:
    return [](double x) { return std::tanh(x); };
  case Operation::TanPi:
    return [](double x) { return std::tan(turn(x) * std::numbers::pi); };
  case Operation::Trunc:
    return [](double x) { return std::trunc(x); };
  default:
    return nullptr;
  }
}

double smoothstep(double low, double high, double x) {
  const double t = saturate((x - low) / (high - low));
  return t * t * (3 - 2 * t);
}

using Binary = double (*)(double, double);

Binary binary(Operation operation) {
  switch (operation) {
  case Operation::Atan2:
    return [](double y, double x) { return std::atan2(y, x); };
  case Operation::CopySign:
    return [](double x, double y) { return std::copysign(x, y); };
  case Operation::Divide:
    return [](double x, double y) { return x / y; };
  case Operation::Fdim:
    return [](double x, double y) { return std::fdim(x, y); };
  case Operation::FMax:
    return [](double x, double y) { return std::fmax(x, y); };
  case Operation::FMin:
    return [](double x, double y) { return std::fmin(x, y); };
  case Operation::FMod:
    return [](double x, double y) { return std::fmod(x, y); };
  case Operation::Pow:
    return [](double x, double y) { return std::pow(x, y); };
  case Operation::Powr:
    return [](double x, double y) { return std::pow(x, y); };
  case Operation::Step:
    return [](double edge, double x) { return x < edge ? 0.0 : 1.0; };
  default:
    return nullptr;
  }
}

double median(double x, double y, double z) {
  return std::fmax(std::fmin(x, y), std::fmin(std::fmax(x, y), z));
}

using Ternary = double (*)(double, double, double);

Ternary ternary(Operation operation) {
  switch (operation) {
  case Operation::Clamp:
    return [](double x, double low, double high) { return std::fmin(std::fmax(x, low), high); };
  case Operation::FMax3:
  case Operation::Max3:
    return [](double x, double y, double z) { return std::fmax(std::fmax(x, y), z); };
  case Operation::FMin3:
  case Operation::Min3:
    return [](double x, double y, double z) { return std::fmin(std::fmin(x, y), z); };
  case Operation::FMedian3:
  case Operation::Median3:
    return median;
  case Operation::Mix:
    return [](double x, double y, double a) { return x + (y - x) * a; };
  case Operation::SmoothStep:
    return smoothstep;
  default:
    return nullptr;
  }
}

double nextAfter(Format format, double x, double y) {
  if (format == Format::Float)
    return std::nextafterf(static_cast<float>(x), static_cast<float>(y));
  if (std::isnan(x) || std::isnan(y) || x == y)
    return std::isnan(x) || std::isnan(y) ? NAN : y;
  Type type{format, 16, false, 1};
  uint8_t data[2];
  writeFloat(type, data, 0, x);
  uint16_t bits;
  std::memcpy(&bits, data, 2);
  if (x == 0)
    bits = y < 0 ? 0x8001 : 0x0001;
  else
    bits += (x < y) == (x > 0) ? 1 : -1;
  std::memcpy(data, &bits, 2);
  return readFloat(type, data, 0);
}

// Operations that write through a pointer besides returning.
void storeThrough(const uint8_t* pointer_slot, const Type& element, unsigned count,
                  const double* values) {
  uint8_t* target;
  std::memcpy(&target, pointer_slot, sizeof(target));
  for (unsigned i = 0; i < count; ++i)
    writeFloat(element, target, i, values[i]);
}

void evaluateMath(const CallShape& shape, const CallData& data) {
  const Operation operation = shape.intrinsic.operation;
  const Type& type = shape.operands[0];
  const unsigned count = type.elements;
  auto get = [&](unsigned operand, unsigned element) {
    return readFloat(shape.operands[operand], data.operand(operand), element);
  };
  switch (operation) {
  case Operation::Dot: {
    double sum = 0;
    for (unsigned i = 0; i < count; ++i)
      sum += get(0, i) * get(1, i);
    writeFloat(shape.result, data.result, 0, sum);
    return;
  }
  case Operation::Fma:
    for (unsigned i = 0; i < count; ++i) {
      const double x = get(0, i), y = get(1, i), z = get(2, i);
      // In one rounding: a float's product and sum need more than double's 53 bits.
      writeFloat(
          shape.result, data.result, i,
          type.format == Format::Float
              ? std::fmaf(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z))
              : std::fma(x, y, z));
    }
    return;
  case Operation::SinCos: {
    double cosines[4];
    for (unsigned i = 0; i < count; ++i) {
      cosines[i] = std::cos(get(0, i));
      writeFloat(shape.result, data.result, i, std::sin(get(0, i)));
    }
    storeThrough(data.operand(1), type, count, cosines);
    return;
  }
  case Operation::Modf: {
    double whole[4];
    for (unsigned i = 0; i < count; ++i) {
      const double x = get(0, i);
      whole[i] = std::trunc(x);
      writeFloat(shape.result, data.result, i,
                 std::isinf(x) ? std::copysign(0.0, x) : std::copysign(x - whole[i], x));
    }
    storeThrough(data.operand(1), type, count, whole);
    return;
  }
  case Operation::Frexp: {
    uint8_t* target;
    std::memcpy(&target, data.operand(1), sizeof(target));
    for (unsigned i = 0; i < count; ++i) {
      int exponent = 0;
      writeFloat(shape.result, data.result, i, std::frexp(get(0, i), &exponent));
      std::memcpy(target + 4 * i, &exponent, 4);
    }
    return;
  }
  case Operation::Ilogb:
    for (unsigned i = 0; i < count; ++i)
      writeInteger(shape.result, data.result, i, std::ilogb(get(0, i)));
    return;
  case Operation::Ldexp:
    for (unsigned i = 0; i < count; ++i)
      writeFloat(shape.result, data.result, i,
                 std::ldexp(get(0, i),
                            static_cast<int>(readInteger(shape.operands[1], data.operand(1), i))));
    return;
  case Operation::NextAfter:
    for (unsigned i = 0; i < count; ++i)
      writeFloat(shape.result, data.result, i, nextAfter(type.format, get(0, i), get(1, i)));
    return;
  default:
    break;
  }
  for (unsigned i = 0; i < count; ++i) {
    double value = 0;
    if (Unary f = unary(operation))
      value = f(get(0, i));
    else if (Binary g = binary(operation))
      value = g(get(0, i), get(1, i));
    else if (Ternary h = ternary(operation))
      value = h(get(0, i), get(1, i), get(2, i));
    writeFloat(shape.result, data.result, i, value);
  }
}

__extension__ typedef __int128 Wide;

Wide lowest(const Type& type) { return type.is_signed ? -(Wide{1} << (type.bits - 1)) : 0; }
Wide highest(const Type& type) {
  return (Wide{1} << (type.is_signed ? type.bits - 1 : type.bits)) - 1;
}
Wide saturated(const Type& type, Wide value) {
  return std::min(std::max(value, lowest(type)), highest(type));
}
Wide wideOf(const Type& type, int64_t value) {
  return type.is_signed ? Wide{value} : Wide{static_cast<uint64_t>(value)};
}

uint64_t maskOf(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

int64_t lowBits(Wide value, unsigned bits) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) & maskOf(bits));
}

int64_t reversed(uint64_t value, unsigned bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; ++i)
    result |= (value >> i & 1) << (bits - 1 - i);
  return static_cast<int64_t>(result);
}

int64_t integerOperation(Operation operation, const Type& type, Wide x, Wide y, Wide z,
                         const CallShape& shape, const CallData& data) {
  const unsigned bits = type.bits;
  const uint64_t raw = static_cast<uint64_t>(x) & maskOf(bits);
  // The third and fourth operands of the bit-field operations are 32-bit whatever the type.
  auto operand = [&](unsigned index) {
    return static_cast<unsigned>(readInteger(shape.operands[index], data.operand(index), 0));
  };
  switch (operation) {
  case Operation::Abs:
    return static_cast<int64_t>(x < 0 ? -x : x);
  case Operation::AbsDiff:
    return static_cast<int64_t>(x > y ? x - y : y - x);
  case Operation::AddSat:
    return static_cast<int64_t>(saturated(type, x + y));
  case Operation::SubSat:
    return static_cast<int64_t>(saturated(type, x - y));
  case Operation::Clamp:
    return static_cast<int64_t>(std::min(std::max(x, y), z));
  case Operation::Clz:
    return raw == 0 ? bits : std::countl_zero(raw) - (64 - bits);
  case Operation::Ctz:
    return raw == 0 ? bits : std::countr_zero(raw);
  case Operation::HAdd:
    return static_cast<int64_t>((x + y) >> 1);
  case Operation::RHAdd:
    return static_cast<int64_t>((x + y + 1) >> 1);
  case Operation::Mad24:
  case Operation::Mul24: {
    auto low24 = [&](Wide value) {
      return type.is_signed ? Wide{static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8}
                            : value & 0xFFFFFF;
    };
    return lowBits(low24(x) * low24(y) + (operation == Operation::Mad24 ? z : 0), bits);
  }
  case Operation::MulHi: {
    if (bits == 64 && !type.is_signed) {
      __extension__ typedef unsigned __int128 UnsignedWide;
      return static_cast<int64_t>(static_cast<uint64_t>(
          UnsignedWide{static_cast<uint64_t>(x)} * static_cast<uint64_t>(y) >> 64));
    }
    return static_cast<int64_t>(x * y >> bits);
  }
  case Operation::MadHi:
    return lowBits((x * y >> bits) + z, bits);
  case Operation::MadSat:
    return static_cast<int64_t>(saturated(type, x * y + z));
  case Operation::Max:
    return static_cast<int64_t>(std::max(x, y));
  case Operation::Max3:
    return static_cast<int64_t>(std::max({x, y, z}));
  case Operation::Min:
    return static_cast<int64_t>(std::min(x, y));
  case Operation::Min3:
    return static_cast<int64_t>(std::min({x, y, z}));
  case Operation::Median3:
    return static_cast<int64_t>(std::max(std::min(x, y), std::min(std::max(x, y), z)));
  case Operation::Popcount:
    return std::popcount(raw);
  case Operation::ReverseBits:
    return reversed(raw, bits);
  case Operation::Rotate: {
    const unsigned amount = static_cast<unsigned>(static_cast<uint64_t>(y) & (bits - 1));
    return amount == 0 ? static_cast<int64_t>(raw)
                       : static_cast<int64_t>(raw << amount | raw >> (bits - amount));
  }
  case Operation::ExtractBits: {
    const unsigned offset = operand(1), width = operand(2);
    if (width == 0)
      return 0;
    uint64_t field = raw >> offset & maskOf(width);
    if (type.is_signed && field >> (width - 1) & 1)
      field |= ~maskOf(width);
    return static_cast<int64_t>(field);
  }
  case Operation::InsertBits: {
    const unsigned offset = operand(2), width = operand(3);
    const uint64_t mask = maskOf(width) << offset;
    return static_cast<int64_t>((raw & ~mask) | (static_cast<uint64_t>(y) << offset & mask));
  }
  default:
    return 0;
  }
}

void evaluateInteger(const CallShape& shape, const CallData& data) {
  const Operation operation = shape.intrinsic.operation;
  const Type& type = shape.operands[0];
  if (type.isFloat()) {
    evaluateMath(shape, data);
    return;
  }
  if (operation == Operation::Any || operation == Operation::All) {
    bool any = false, all = true;
    for (unsigned i = 0; i < type.elements; ++i) {
      const bool value = readInteger(type, data.operand(0), i) != 0;
      any |= value;
      all &= value;
    }
    writeInteger(shape.result, data.result, 0, operation == Operation::Any ? any : all);
    return;
  }
  for (unsigned i = 0; i < shape.result.elements; ++i) {
    Wide values[3] = {};
    for (unsigned n = 0; n < 3 && n < shape.operand_count; ++n) {
      const Type& operand = shape.operands[n];
      values[n] = wideOf(operand, readInteger(operand, data.operand(n),
                                              std::min<unsigned>(i, operand.elements - 1)));
    }
    writeInteger(shape.result, data.result, i,
                 integerOperation(operation, type, values[0], values[1], values[2], shape, data));
  }
}

void convertElement(const CallShape& shape, const CallData& data, unsigned i) {
  const Type& to = shape.result;
  const Type& from = shape.operands[0];
  if (from.isFloat()) {
    const double value = readFloat(from, data.operand(0), i);
    if (to.isFloat()) {
      writeFloat(to, data.result, i, value);
    } else if (to.bits == 1) {
      writeInteger(to, data.result, i, value != 0); // NaN counts as true
    } else {
      // Truncated; out of range goes to the nearest end, NaN to zero. The hardware's narrowest
      // conversion is to int, of which shorter integers are the low bits.
      const Type wide = to.bits < 32 ? Type{Format::Integer, 32, true, 1} : to;
      const double low = static_cast<double>(lowest(wide));
      int64_t whole;
      if (std::isnan(value))
        whole = 0;
      else if (value <= low)
        whole = static_cast<int64_t>(lowest(wide));
      else if (value >= static_cast<double>(highest(wide)))
        whole = static_cast<int64_t>(static_cast<uint64_t>(highest(wide)));
      else
        whole = wide.is_signed ? static_cast<int64_t>(value)
                               : static_cast<int64_t>(static_cast<uint64_t>(value));
      writeInteger(to, data.result, i, whole);
    }
    return;
  }
  const int64_t value = readInteger(from, data.operand(0), i);
  if (!to.isFloat()) {
    writeInteger(to, data.result, i, to.bits == 1 ? value != 0 : value);
  } else if (to.format == Format::Float) {
    // Straight to float: by way of double a 64-bit integer would be rounded twice.
    writeFloat(to, data.result, i,
               from.is_signed ? static_cast<float>(value)
                              : static_cast<float>(static_cast<uint64_t>(value)));
  } else {
    writeFloat(to, data.result, i,
               from.is_signed ? static_cast<double>(value)
                              : static_cast<double>(static_cast<uint64_t>(value)));
  }
}

double linearToSrgb(double x) {
  return x < 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1.0 / 2.4) - 0.055;
}
double srgbToLinear(double x) {
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}

void evaluateConvert(const CallShape& shape, const CallData& data) {
  struct Packing {
    unsigned bits;
    bool is_signed, srgb;
  };
  auto pack = [&](Packing packing) {
    uint64_t packed = 0;
    const double scale = static_cast<double>(maskOf(packing.bits - packing.is_signed));
    for (unsigned i = 0; i < shape.operands[0].elements; ++i) {
      double x = readFloat(shape.operands[0], data.operand(0), i);
      x = std::isnan(x) ? 0 : std::clamp(x, packing.is_signed ? -1.0 : 0.0, 1.0);
      if (packing.srgb && i < 3)
        x = linearToSrgb(x);
      const auto whole = static_cast<int64_t>(std::nearbyint(x * scale));
      packed |= (static_cast<uint64_t>(whole) & maskOf(packing.bits)) << (packing.bits * i);
    }
    writeInteger(shape.result, data.result, 0, static_cast<int64_t>(packed));
  };
  auto unpack = [&](Packing packing) {
    const auto packed = static_cast<uint64_t>(readInteger(shape.operands[0], data.operand(0), 0));
    const double scale = static_cast<double>(maskOf(packing.bits - packing.is_signed));
    for (unsigned i = 0; i < shape.result.elements; ++i) {
      auto field = static_cast<int64_t>(packed >> (packing.bits * i) & maskOf(packing.bits));
      if (packing.is_signed && field >> (packing.bits - 1))
        field -= int64_t{1} << packing.bits;
      double x = std::max(static_cast<double>(field) / scale, packing.is_signed ? -1.0 : 0.0);
      if (packing.srgb && i < 3)
        x = srgbToLinear(x);
      writeFloat(shape.result, data.result, i, x);
    }
  };
  switch (shape.intrinsic.operation) {
  case Operation::PackSnorm2x16:
    return pack({16, true, false});
  case Operation::PackSnorm4x8:
    return pack({8, true, false});
  case Operation::PackUnorm2x16:
    return pack({16, false, false});
  case Operation::PackUnorm4x8:
    return pack({8, false, false});
  case Operation::PackUnorm4x8Srgb:
    return pack({8, false, true});
  case Operation::UnpackSnorm2x16:
    return unpack({16, true, false});
  case Operation::UnpackSnorm4x8:
    return unpack({8, true, false});
  case Operation::UnpackUnorm2x16:
    return unpack({16, false, false});
  case Operation::UnpackUnorm4x8:
    return unpack({8, false, false});
  case Operation::UnpackUnorm4x8Srgb:
    return unpack({8, false, true});
  default:
    for (unsigned i = 0; i < shape.result.elements; ++i)
      convertElement(shape, data, i);
  }
}

void evaluateAtomic(const CallShape& shape, const CallData& data) {
  const Operation operation = shape.intrinsic.operation;
  if (operation == Operation::AtomicFence)
    return; // one thread runs at a time
  uint8_t* memory;
  std::memcpy(&memory, data.operand(0), sizeof(memory));
  // The type of the memory is that of the value: void forms have no result.
  const unsigned value_operand = operation == Operation::AtomicCompareExchange ? 2 : 1;
  const Type type =
      operation == Operation::AtomicLoad ? shape.result : shape.operands[value_operand];
  const uint8_t* value = data.operand(value_operand);
  uint8_t old[8];
  std::memcpy(old, memory, type.bytes());
  uint8_t next[8];
  std::memcpy(next, value, type.bytes());
  switch (operation) {
  case Operation::AtomicLoad:
    std::memcpy(next, old, type.bytes());
    break;
  case Operation::AtomicStore:
  case Operation::AtomicExchange:
    break;
  case Operation::AtomicCompareExchange: {
    uint8_t* expected;
    std::memcpy(&expected, data.operand(1), sizeof(expected));
    if (std::memcmp(expected, old, type.bytes()) != 0) {
      std::memcpy(next, old, type.bytes());
      std::memcpy(expected, old, type.bytes());
    }
    break;
  }
  default:
    if (type.isFloat()) {
      const double x = readFloat(type, old, 0), y = readFloat(type, value, 0);
      writeFloat(type, next, 0,
                 operation == Operation::AtomicAdd   ? x + y
                 : operation == Operation::AtomicSub ? x - y
                 : operation == Operation::AtomicMax ? std::fmax(x, y)
                                                     : std::fmin(x, y));
    } else {
      const int64_t x = readInteger(type, old, 0), y = readInteger(type, value, 0);
      const Wide a = wideOf(type, x), b = wideOf(type, y);
      int64_t result = 0;
      switch (operation) {
      case Operation::AtomicAdd:
        result = lowBits(a + b, 64);
        break;
      case Operation::AtomicSub:
        result = lowBits(a - b, 64);
        break;
      case Operation::AtomicAnd:
        result = x & y;
        break;
      case Operation::AtomicOr:
        result = x | y;
        break;
      case Operation::AtomicXor:
        result = x ^ y;
        break;
      case Operation::AtomicMax:
        result = a > b ? x : y;
        break;
      default:
        result = a < b ? x : y;
        break;
      }
      writeInteger(type, next, 0, result);
    }
  }
  std::memcpy(memory, next, type.bytes());
  if (shape.result.format != Format::None)
    std::memcpy(data.result, old, type.bytes());
}

bool isKnownMath(Operation operation) {
  switch (operation) {
  case Operation::Dot:
  case Operation::Fma:
  case Operation::SinCos:
  case Operation::Modf:
  case Operation::Frexp:
  case Operation::Ilogb:
  case Operation::Ldexp:
  case Operation::NextAfter:
    return true;
  default:
    return unary(operation) || binary(operation) || ternary(operation);
  }
}

} // namespace

bool isKnown(const CallShape& shape) {
  switch (shape.intrinsic.group) {
  case OperationGroup::Math:
    return isKnownMath(shape.intrinsic.operation);
  case OperationGroup::Texture:
    return false;
  case OperationGroup::Hint:
    return shape.intrinsic.operation == Operation::IsUniform;
  default:
    return true;
  }
}

void evaluate(const CallShape& shape, const CallData& data) {
  switch (shape.intrinsic.group) {
  case OperationGroup::Math:
    return evaluateMath(shape, data);
  case OperationGroup::Integer:
    return evaluateInteger(shape, data);
  case OperationGroup::Convert:
    return evaluateConvert(shape, data);
  case OperationGroup::Atomic:
    return evaluateAtomic(shape, data);
  case OperationGroup::Hint:
    return writeInteger(shape.result, data.result, 0, 1); // is_uniform
  default:
    break;
  }
}

} // namespace bessemer::metal::cpu::reference
