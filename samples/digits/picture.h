// Grey pictures of handwritten digits.
#pragma once

#include <array>
#include <expected>
#include <string>

namespace bessemer::digits {

inline constexpr int kSide = 8;

// 8 rows of 8 pixels, 0 background to 1 ink.
using Picture = std::array<float, kSide * kSide>;

// Reads a PNG of any colour type as grey. An 8x8 picture is taken as it is. A larger one is made
// like those of the training data: dark ink on light paper is inverted, the ink's bounding box is
// cut out, centred in a square and averaged down to 8x8, and the darkest pixel becomes full ink.
// Errors: not a PNG, smaller than 8x8, larger than 8,192 pixels a side, no ink.
std::expected<Picture, std::string> readPicture(const std::string& path);

} // namespace bessemer::digits
