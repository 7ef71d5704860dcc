#include "metal/runtime/range_allocator.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace mtl {
namespace {

TEST(RangeAllocator, FillsTheWholeSpanAndThenRefuses) {
  RangeAllocator ranges(1024);
  EXPECT_EQ(ranges.largest_free(256), 1024u);
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(ranges.allocate(256, 256), 256 * i);
  EXPECT_EQ(ranges.allocate(1, 1), std::nullopt);
  EXPECT_EQ(ranges.used(), 1024u);
  EXPECT_EQ(ranges.largest_free(1), 0u);
}

TEST(RangeAllocator, TakesTheSmallestHoleThatFits) {
  RangeAllocator ranges(1000);
  ASSERT_EQ(ranges.allocate(300, 1), 0u);
  ASSERT_EQ(ranges.allocate(10, 1), 300u);
  ASSERT_EQ(ranges.allocate(100, 1), 310u);
  ASSERT_EQ(ranges.allocate(10, 1), 410u);
  ranges.free(0, 300);
  ranges.free(310, 100);
  EXPECT_EQ(ranges.allocate(90, 1), 310u);
}

TEST(RangeAllocator, SkippedAlignmentBytesStayFree) {
  RangeAllocator ranges(512);
  ASSERT_EQ(ranges.allocate(1, 1), 0u);
  ASSERT_EQ(ranges.allocate(256, 256), 256u);
  EXPECT_EQ(ranges.used(), 257u);
  EXPECT_EQ(ranges.largest_free(1), 255u);
  EXPECT_EQ(ranges.largest_free(128), 128u);
  EXPECT_EQ(ranges.allocate(255, 1), 1u);
}

// Compares with a byte map over a long random history.
TEST(RangeAllocator, NeverOverlapsAndAlwaysJoinsAgain) {
  constexpr uint64_t kSize = 4096;
  RangeAllocator ranges(kSize);
  std::vector<bool> taken(kSize);
  std::vector<std::pair<uint64_t, uint64_t>> live;
  std::mt19937 random(1);
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 2) {
      uint64_t size = 1 + random() % 300, alignment = uint64_t{1} << random() % 9;
      uint64_t largest = ranges.largest_free(alignment);
      auto offset = ranges.allocate(size, alignment);
      ASSERT_EQ(offset.has_value(), size <= largest);
      if (!offset)
        continue;
      ASSERT_EQ(*offset % alignment, 0u);
      ASSERT_LE(*offset + size, kSize);
      for (uint64_t i = *offset; i < *offset + size; ++i) {
        ASSERT_FALSE(taken[i]);
        taken[i] = true;
      }
      live.emplace_back(*offset, size);
    } else {
      std::swap(live[random() % live.size()], live.back());
      auto [offset, size] = live.back();
      live.pop_back();
      ranges.free(offset, size);
      for (uint64_t i = offset; i < offset + size; ++i)
        taken[i] = false;
    }
  }
  for (auto [offset, size] : live)
    ranges.free(offset, size);
  EXPECT_EQ(ranges.used(), 0u);
  EXPECT_EQ(ranges.allocate(kSize, 4096), 0u);
}

} // namespace
} // namespace mtl
