#include "metal/cpu/executor/processor_count.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sched.h>

#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

class CgroupTest : public ::testing::Test {
protected:
  void SetUp() override {
    root =
        std::filesystem::path(::testing::TempDir()) / ("cgroup_test_" + std::to_string(getpid()));
    std::filesystem::remove_all(root);
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::filesystem::path root;
};

TEST_F(CgroupTest, NoCgroupMeansNoQuota) { EXPECT_EQ(cgroup_processor_quota(root), 0); }

TEST_F(CgroupTest, Version2TakesTheSmallestOnTheWayUp) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_processor_quota(root), 0);
  write("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
  EXPECT_EQ(cgroup_processor_quota(root), 2.5);
  write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(cgroup_processor_quota(root), 1);
}

TEST_F(CgroupTest, Version2InAContainerReadsTheMountedRoot) {
  write("/proc/self/cgroup", "0::/docker/0123\n");
  write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_processor_quota(root), 1.5);
}

TEST_F(CgroupTest, Version1ReadsTheCpuController) {
  write("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/job\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_processor_quota(root), 0);
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(cgroup_processor_quota(root), 3);
}

TEST_F(CgroupTest, TextThatIsNoQuotaIsNone) {
  write("/proc/self/cgroup", "garbage\n0::\n::\n");
  write("/sys/fs/cgroup/cpu.max", "what\n");
  EXPECT_EQ(cgroup_processor_quota(root), 0);
}

TEST(ProcessorCountTest, FollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(available_processors(), 1u);
  EXPECT_LE(available_processors(), static_cast<unsigned>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &before)) {
      CPU_SET(i, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_processors(), 1u);
  sched_setaffinity(0, sizeof before, &before);
}

} // namespace
} // namespace bessemer::metal::cpu
