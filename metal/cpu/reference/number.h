// The numbers that AIR's operations work on, element by element, in whatever format they are
// stored.
#pragma once

#include <cstdint>

namespace bessemer::metal::cpu::reference {

enum class Format : uint8_t { None, Integer, Half, BFloat, Float, Pointer };

// Type of an operand: one element's format and how many there are. `sign` matters for integers.
struct Type {
  Format format = Format::None;
  uint8_t bits = 0; // 1 is a truth value, kept in a byte
  bool is_signed = false;
  uint16_t elements = 1;

  uint32_t elementBytes() const { return bits <= 8 ? 1 : bits / 8; }
  uint32_t bytes() const { return elementBytes() * elements; }
  bool isFloat() const {
    return format == Format::Half || format == Format::BFloat || format == Format::Float;
  }
};

// Largest operand: an 8x8 matrix of float.
inline constexpr uint32_t kSlotBytes = 256;

double readFloat(const Type& type, const uint8_t* data, unsigned element);
void writeFloat(const Type& type, uint8_t* data, unsigned element, double value);
// Sign- or zero-extended by `type`.
int64_t readInteger(const Type& type, const uint8_t* data, unsigned element);
void writeInteger(const Type& type, uint8_t* data, unsigned element, int64_t value);

// Rounds to the nearest value of the format, ties to even.
double roundTo(Format format, double value);

} // namespace bessemer::metal::cpu::reference
