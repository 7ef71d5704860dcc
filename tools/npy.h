// NumPy's .npy format (versions 1 to 3): arrays in C order and little-endian bytes.
// Source: numpy.lib.format's documentation of the file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace bessemer::tools {

// A dense row-major array. `element_type` is the HAL's: numerical type << 24 | bits.
struct Array {
  uint32_t element_type = 0;
  std::vector<size_t> shape; // the HAL's dimensions
  std::vector<uint8_t> data;
};

// Reads the array that starts at the stream's position and leaves the stream behind it: several
// arrays may follow one another in a file. Types: b, i, u, f, c and V2 (bfloat16 as NumPy without
// an extension writes it, read as opaque 16-bit elements). An error names what was found and what
// would be right.
std::expected<Array, std::string> readNpy(std::istream& stream);

// The same from bytes in memory; `*consumed`, where given, is set to the bytes that were read.
std::expected<Array, std::string> parseNpy(std::string_view bytes, size_t* consumed = nullptr);

// Appends version 1.0 bytes. Signless integers are written as signed, bfloat16 as V2. An element
// type that NumPy has no kind for (4-bit integers, 8-bit floats) is an error.
std::expected<void, std::string> formatNpy(const Array& array, std::string& out);

// Bytes that `shape` elements of `element_type` need; an error when that overflows 64 bits.
std::expected<uint64_t, std::string> byteLength(uint32_t element_type,
                                                const std::vector<size_t>& shape);

} // namespace bessemer::tools
