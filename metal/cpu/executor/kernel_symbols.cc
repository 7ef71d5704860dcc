#include "metal/cpu/executor/kernel_symbols.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace bessemer::metal::cpu {

namespace {

// Passed as a half is, in the low bits of a vector register. __bf16 itself would make clang call
// the very functions that are defined here.
using BfloatInRegister = _Float16;

// libgcc of Debian 12 has no bfloat conversions. Round to nearest even; NaN stays NaN.
BfloatInRegister bfloat_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    bits |= 0x400000; // quiet, as truncating could clear all that makes it a NaN
  else
    bits += 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<BfloatInRegister>(static_cast<uint16_t>(bits >> 16));
}

BfloatInRegister bfloat_from_double(double value) {
  // Rounding twice would be wrong half-way between two bfloats: the float keeps, in its last bit,
  // whether anything was lost ("round to odd").
  float rounded = static_cast<float>(value);
  if (std::isfinite(rounded) && static_cast<double>(rounded) != value) {
    uint32_t bits = std::bit_cast<uint32_t>(rounded);
    if (std::fabs(static_cast<double>(rounded)) > std::fabs(value))
      --bits; // towards zero
    rounded = std::bit_cast<float>(bits | 1);
  }
  return bfloat_from_float(rounded);
}

float float_from_bfloat(BfloatInRegister value) {
  return std::bit_cast<float>(uint32_t{std::bit_cast<uint16_t>(value)} << 16);
}

// The processor's instruction where there is one, else libgcc's function.
float float_from_half(_Float16 value) { return static_cast<float>(value); }
double double_from_half(_Float16 value) { return static_cast<double>(value); }
_Float16 half_from_float(float value) { return static_cast<_Float16>(value); }
_Float16 half_from_double(double value) { return static_cast<_Float16>(value); }

struct Symbol {
  std::string_view name;
  const void* address;
};

template <typename Function>
const void* address_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

} // namespace

const void* find_kernel_symbol(std::string_view name) {
  static const Symbol symbols[] = {
      {"memcpy", address_of(&std::memcpy)},
      {"memmove", address_of(&std::memmove)},
      {"memset", address_of(&std::memset)},
      {"memcmp", address_of(&std::memcmp)},
      {"fmodf", address_of<float(float, float)>(&::fmodf)},
      {"fmod", address_of<double(double, double)>(&::fmod)},
      {"__extendhfsf2", address_of(&float_from_half)},
      {"__extendhfdf2", address_of(&double_from_half)},
      {"__truncsfhf2", address_of(&half_from_float)},
      {"__truncdfhf2", address_of(&half_from_double)},
      {"__truncsfbf2", address_of(&bfloat_from_float)},
      {"__truncdfbf2", address_of(&bfloat_from_double)},
      {"__extendbfsf2", address_of(&float_from_bfloat)},
  };
  for (const Symbol& symbol : symbols)
    if (symbol.name == name)
      return symbol.address;
  return nullptr;
}

} // namespace bessemer::metal::cpu
