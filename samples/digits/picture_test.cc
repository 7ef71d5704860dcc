#include "samples/digits/picture.h"

#include <png.h>

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace bessemer::digits {
namespace {

std::string writePng(int width, int height, const std::vector<uint8_t>& grey) {
  std::string path = testing::TempDir() + "picture-" + std::to_string(width) + "x" +
                     std::to_string(height) + ".png";
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_GRAY;
  EXPECT_TRUE(png_image_write_to_file(&image, path.c_str(), 0, grey.data(), 0, nullptr));
  return path;
}

TEST(Picture, EightByEightIsTakenAsItIs) {
  std::vector<uint8_t> grey(64);
  for (int i = 0; i < 64; ++i)
    grey[i] = static_cast<uint8_t>(i * 4);
  auto picture = readPicture(writePng(8, 8, grey));
  ASSERT_TRUE(picture) << picture.error();
  for (int i = 0; i < 64; ++i)
    EXPECT_FLOAT_EQ((*picture)[i], grey[i] / 255.0f);
}

TEST(Picture, InkIsFoundCentredAndScaled) {
  // A black bar, 10 wide and 40 high, somewhere on white paper: two cells wide in the middle.
  std::vector<uint8_t> grey(100 * 60, 255);
  for (int y = 12; y < 52; ++y)
    for (int x = 70; x < 80; ++x)
      grey[y * 100 + x] = 0;
  auto picture = readPicture(writePng(100, 60, grey));
  ASSERT_TRUE(picture) << picture.error();
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column)
      EXPECT_NEAR((*picture)[row * 8 + column], column == 3 || column == 4 ? 1.0f : 0.0f, 1e-6f)
          << row << " " << column;
  }
}

TEST(Picture, SaysWhatIsWrong) {
  EXPECT_NE(readPicture("/nonexistent.png").error().find("nonexistent"), std::string::npos);
  EXPECT_NE(readPicture(writePng(7, 9, std::vector<uint8_t>(63))).error().find("7x9"),
            std::string::npos);
  EXPECT_NE(readPicture(writePng(16, 16, std::vector<uint8_t>(256, 200))).error().find("contrast"),
            std::string::npos);
}

} // namespace
} // namespace bessemer::digits
