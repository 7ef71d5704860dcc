#include "samples/digits/picture.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bessemer::digits {
namespace {

constexpr uint32_t kMaxSide = 8192;

struct Grey {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> pixels;
  float at(uint32_t x, uint32_t y) const { return pixels[size_t{y} * width + x] / 255.0f; }
};

std::expected<Grey, std::string> readGrey(const std::string& path) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  auto failed = [&] {
    std::string why = image.message;
    png_image_free(&image);
    return std::unexpected(path + ": " + why);
  };
  if (!png_image_begin_read_from_file(&image, path.c_str()))
    return failed();
  if (image.width < kSide || image.height < kSide || image.width > kMaxSide ||
      image.height > kMaxSide) {
    std::string size = std::to_string(image.width) + "x" + std::to_string(image.height);
    png_image_free(&image);
    return std::unexpected(path + ": the picture is " + size + "; it must be 8x8 to 8192x8192");
  }
  image.format = PNG_FORMAT_GRAY;
  Grey grey{image.width, image.height, std::vector<uint8_t>(PNG_IMAGE_SIZE(image))};
  png_color white = {255, 255, 255}; // behind transparent pixels
  if (!png_image_finish_read(&image, &white, grey.pixels.data(), 0, nullptr))
    return failed();
  return grey;
}

// Paper is what most of the border shows.
bool lightPaper(const Grey& grey) {
  double sum = 0;
  for (uint32_t x = 0; x < grey.width; ++x)
    sum += grey.at(x, 0) + grey.at(x, grey.height - 1);
  for (uint32_t y = 0; y < grey.height; ++y)
    sum += grey.at(0, y) + grey.at(grey.width - 1, y);
  return sum > grey.width + grey.height;
}

} // namespace

std::expected<Picture, std::string> readPicture(const std::string& path) {
  auto read = readGrey(path);
  if (!read)
    return std::unexpected(read.error());
  Grey& grey = *read;
  Picture picture;
  if (grey.width == kSide && grey.height == kSide) {
    for (int i = 0; i < kSide * kSide; ++i)
      picture[i] = grey.pixels[i] / 255.0f;
    return picture;
  }
  if (lightPaper(grey)) {
    for (uint8_t& pixel : grey.pixels)
      pixel = 255 - pixel;
  }
  // Ink is what stands out against the paper by a third of the contrast.
  auto [least, most] = std::minmax_element(grey.pixels.begin(), grey.pixels.end());
  const uint8_t paper = *least, ink = *most;
  if (ink - paper < 32)
    return std::unexpected(path + ": no digit can be seen (the picture has hardly any contrast)");
  const uint8_t threshold = paper + (ink - paper) / 3;
  uint32_t left = grey.width, right = 0, top = grey.height, bottom = 0;
  for (uint32_t y = 0; y < grey.height; ++y) {
    for (uint32_t x = 0; x < grey.width; ++x) {
      if (grey.pixels[size_t{y} * grey.width + x] <= threshold)
        continue;
      left = std::min(left, x), right = std::max(right, x);
      top = std::min(top, y), bottom = std::max(bottom, y);
    }
  }
  // A square around the box; each of its 8x8 cells is averaged with partial pixels weighted.
  const double side = std::max(right - left, bottom - top) + 1.0;
  const double x0 = (left + right + 1) / 2.0 - side / 2, y0 = (top + bottom + 1) / 2.0 - side / 2;
  const double cell = side / kSide;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const double ax = x0 + column * cell, ay = y0 + row * cell;
      double sum = 0;
      for (int y = static_cast<int>(std::floor(ay)); y < ay + cell; ++y) {
        for (int x = static_cast<int>(std::floor(ax)); x < ax + cell; ++x) {
          const double wx = std::min(ax + cell, x + 1.0) - std::max(ax, double(x));
          const double wy = std::min(ay + cell, y + 1.0) - std::max(ay, double(y));
          const bool inside = x >= 0 && y >= 0 && x < static_cast<int>(grey.width) &&
                              y < static_cast<int>(grey.height);
          if (inside && wx > 0 && wy > 0)
            sum += wx * wy * (grey.at(x, y) - paper / 255.0);
        }
      }
      picture[row * kSide + column] = static_cast<float>(std::max(0.0, sum / (cell * cell)));
    }
  }
  const float peak = *std::max_element(picture.begin(), picture.end());
  for (float& pixel : picture)
    pixel /= peak;
  return picture;
}

} // namespace bessemer::digits
