#include "metal/cpu/executor/disk_cache.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <utime.h>

#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    root = fs::path(::testing::TempDir()) /
           (std::string("disk_cache_") +
            ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root);
    directory = root / "deep" / "bessemer";
  }
  void TearDown() override { fs::remove_all(root); }

  static Digest key(uint64_t number) { return Sha256().add_number(number).finish(); }
  static std::vector<uint8_t> bytes(size_t size, uint8_t value) {
    return std::vector<uint8_t>(size, value);
  }

  // The only entry there is.
  fs::path entry() const {
    fs::path found;
    for (const auto& item : fs::directory_iterator(directory))
      found = item.path();
    return found;
  }
  size_t entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& item : fs::directory_iterator(directory))
      ++count;
    return count;
  }

  fs::path root, directory;
};

TEST_F(DiskCacheTest, GivesBackWhatWasStored) {
  DiskCache cache(directory, 1 << 20);
  EXPECT_FALSE(cache.load("kernel", key(1)));
  cache.store("kernel", key(1), bytes(1000, 7));
  EXPECT_EQ(cache.load("kernel", key(1)), bytes(1000, 7));
  EXPECT_EQ(DiskCache(directory, 1 << 20).load("kernel", key(1)), bytes(1000, 7));
  EXPECT_FALSE(cache.load("library", key(1)));
  EXPECT_FALSE(cache.load("kernel", key(2)));
  cache.store("kernel", key(3), {});
  EXPECT_EQ(cache.load("kernel", key(3)), bytes(0, 0));
}

TEST_F(DiskCacheTest, OnlyTheOwnerMayEnter) {
  DiskCache(directory, 1 << 20).store("kernel", key(1), bytes(10, 1));
  EXPECT_EQ(fs::status(directory).permissions(), fs::perms::owner_all);
}

TEST_F(DiskCacheTest, DirectoryThatOthersMayWriteIsNotUsed) {
  DiskCache cache(directory, 1 << 20);
  cache.store("kernel", key(1), bytes(10, 1));
  fs::permissions(directory, fs::perms::owner_all | fs::perms::others_all);
  EXPECT_FALSE(cache.load("kernel", key(1)));
  cache.store("kernel", key(2), bytes(10, 1));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(DiskCacheTest, EveryDamagedByteIsNoticedAndTheEntryRemoved) {
  DiskCache cache(directory, 1 << 20);
  const std::vector<uint8_t> stored = bytes(40, 9);
  cache.store("kernel", key(1), stored);
  const auto size = fs::file_size(entry());
  for (size_t at = 0; at < size; ++at) {
    cache.store("kernel", key(1), stored);
    std::fstream file(entry(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char flipped = static_cast<char>(file.get() ^ 0x10);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(flipped);
    file.close();
    EXPECT_FALSE(cache.load("kernel", key(1))) << at;
    EXPECT_EQ(entries(), 0u) << at;
  }
}

TEST_F(DiskCacheTest, TruncatedOrLengthenedEntryIsNotUsed) {
  DiskCache cache(directory, 1 << 20);
  for (size_t size : {0u, 5u, 47u, 48u, 60u, 100u}) {
    cache.store("kernel", key(1), bytes(40, 9));
    fs::resize_file(entry(), size);
    EXPECT_FALSE(cache.load("kernel", key(1))) << size;
  }
}

TEST_F(DiskCacheTest, LinkInPlaceOfAnEntryIsNotFollowed) {
  DiskCache cache(directory, 1 << 20);
  cache.store("kernel", key(1), bytes(40, 9));
  const fs::path real = entry(), moved = root / "elsewhere";
  fs::rename(real, moved);
  fs::create_symlink(moved, real);
  EXPECT_FALSE(cache.load("kernel", key(1)));
}

TEST_F(DiskCacheTest, LongestUnusedEntriesGoWhenTheLimitIsPassed) {
  DiskCache cache(directory, 10'000);
  for (uint64_t i = 0; i < 9; ++i) {
    cache.store("kernel", key(i), bytes(1000, static_cast<uint8_t>(i)));
    const std::string path = (directory / ("kernel-" + hexadecimal(key(i)))).string();
    const utimbuf time = {static_cast<time_t>(1'000'000 + i), static_cast<time_t>(1'000'000 + i)};
    utime(path.c_str(), &time);
  }
  EXPECT_TRUE(cache.load("kernel", key(0))); // used now, so it stays
  cache.store("kernel", key(9), bytes(1000, 9));
  cache.trim();
  EXPECT_TRUE(cache.load("kernel", key(0)));
  EXPECT_FALSE(cache.load("kernel", key(1)));
  EXPECT_TRUE(cache.load("kernel", key(9)));
  EXPECT_LE(entries(), 7u);
  EXPECT_GE(entries(), 6u);
}

TEST_F(DiskCacheTest, ManyWritersOfOneEntryLeaveAWholeOne) {
  std::vector<std::thread> writers;
  std::atomic<int> bad{0};
  for (uint8_t t = 0; t < 4; ++t)
    writers.emplace_back([&, t] {
      DiskCache cache(directory, 1 << 20);
      for (int i = 0; i < 50; ++i) {
        cache.store("kernel", key(1), bytes(5000, t));
        const auto loaded = cache.load("kernel", key(1));
        bad += !loaded || loaded->size() != 5000 || (*loaded)[0] != (*loaded)[4999];
      }
    });
  for (std::thread& writer : writers)
    writer.join();
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(DiskCacheTest, WithoutADirectoryNothingIsKept) {
  DiskCache cache("", 1 << 20);
  cache.store("kernel", key(1), bytes(10, 1));
  EXPECT_FALSE(cache.load("kernel", key(1)));
}

} // namespace
} // namespace bessemer::metal::cpu
