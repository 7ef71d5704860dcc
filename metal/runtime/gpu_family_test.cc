#include "metal/runtime/gpu_family.h"

#include <gtest/gtest.h>

namespace mtl {
namespace {

// Rows of Metal's feature set tables.
TEST(GpuFamily, AnswersAsTheFeatureSetTablesDo) {
  struct Row {
    const char* name;
    GPUFamily family;
    bool supported;
  };
  const Row rows[] = {
      {"apple9", GPUFamily::Apple9, true},  {"apple9", GPUFamily::Apple1, true},
      {"apple9", GPUFamily::Metal3, true},  {"apple9", GPUFamily::Mac2, true},
      {"apple9", GPUFamily::Common3, true}, {"apple7", GPUFamily(1008), false},
      {"apple7", GPUFamily(1007), true},    {"apple7", GPUFamily::Metal3, true},
      {"Apple6", GPUFamily::Metal3, false}, {"apple6", GPUFamily::Mac2, false},
      {"apple6", GPUFamily::Common2, true}, {"apple2", GPUFamily::Common1, false},
      {"mac2", GPUFamily::Apple1, false},   {"mac2", GPUFamily::Mac2, true},
      {"mac2", GPUFamily::Common3, true},   {"metal3", GPUFamily::Metal3, true},
      {"metal3", GPUFamily(1007), true},    {"apple9", GPUFamily(1010), false},
      {"apple9", GPUFamily(0), false},      {"apple9", GPUFamily(-7), false},
  };
  for (const Row& row : rows) {
    auto profile = parse_gpu_family(row.name);
    ASSERT_TRUE(profile) << row.name;
    EXPECT_EQ(profile->supports(row.family), row.supported)
        << row.name << " " << static_cast<Integer>(row.family);
  }
}

TEST(GpuFamily, RefusesNamesThatAreNoFamily) {
  for (const char* name : {"", "apple", "apple0", "apple10", "mac", "nvidia", "apple9 "})
    EXPECT_FALSE(parse_gpu_family(name)) << name;
}

TEST(GpuFamily, ArchitectureTellsGenerationAndSizeClass) {
  EXPECT_EQ(parse_gpu_family("apple9")->architecture(), "applegpu_g15g");
  EXPECT_EQ(parse_gpu_family("apple7")->architecture(), "applegpu_g13g");
}

} // namespace
} // namespace mtl
