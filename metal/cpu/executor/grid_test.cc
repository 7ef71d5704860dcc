#include "metal/cpu/executor/grid.h"

#include <vector>

#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

TEST(GridTest, RegionsHoldEachThreadgroupOnceAndWholeOnesAreWhole) {
  for (uint32_t x : {1u, 4u, 5u, 13u})
    for (uint32_t y : {1u, 3u, 6u, 8u})
      for (uint32_t z : {1u, 2u, 5u}) {
        const Size3 grid = {x, y, z}, group = {4, 3, 2};
        const Size3 groups = threadgroups_per_grid(grid, group);
        EXPECT_EQ(groups, (Size3{(x + 3) / 4, (y + 2) / 3, (z + 1) / 2}));
        std::vector<int> seen(groups.volume());
        const GridRegions regions = split_grid(grid, group);
        for (const Region& region : regions.span())
          for (uint32_t k = 0; k < region.size.z; ++k)
            for (uint32_t j = 0; j < region.size.y; ++j)
              for (uint32_t i = 0; i < region.size.x; ++i) {
                const uint32_t gx = region.origin.x + i, gy = region.origin.y + j,
                               gz = region.origin.z + k;
                ++seen[(gz * groups.y + gy) * groups.x + gx];
                const bool whole = (gx + 1) * 4 <= x && (gy + 1) * 3 <= y && (gz + 1) * 2 <= z;
                EXPECT_EQ(whole, region.whole);
              }
        for (int count : seen)
          EXPECT_EQ(count, 1);
      }
}

TEST(GridTest, EmptyGridHasNoRegions) { EXPECT_EQ(split_grid({0, 4, 4}, {2, 2, 2}).count, 0u); }

TEST(GridTest, LargestGridDoesNotWrap) {
  const GridRegions regions = split_grid({0xffffffff, 1, 1}, {1024, 1, 1});
  ASSERT_EQ(regions.count, 2u);
  EXPECT_EQ(regions.regions[0].size.x, 0x3fffffu);
  EXPECT_EQ(regions.regions[1].origin.x, 0x3fffffu);
  EXPECT_EQ(regions.regions[1].size.x, 1u);
}

} // namespace
} // namespace bessemer::metal::cpu
