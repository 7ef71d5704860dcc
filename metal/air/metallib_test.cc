#include "metal/air/metallib.h"

#include <gtest/gtest.h>

#include <random>

namespace bessemer::air {
namespace {

llvm::ArrayRef<uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string sample() {
  MetallibEntry first{"first", FunctionKind::Kernel, "BC\xC0\xDE one", {{"flag", 53, 200, true}}};
  MetallibEntry second{"second", FunctionKind::Fragment, "BC\xC0\xDE the second", {}};
  return write_metallib({first, second});
}

TEST(Metallib, WhatIsWrittenIsReadBack) {
  std::string file = sample();
  auto library = Metallib::parse(bytes_of(file));
  ASSERT_TRUE(static_cast<bool>(library)) << llvm::toString(library.takeError());
  ASSERT_EQ(library->functions().size(), 2u);
  const MetallibFunction& first = library->functions()[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.type, 2);
  EXPECT_EQ(first.air_version[0], 2);
  EXPECT_EQ(first.air_version[1], 6);
  // Darwin's wrapper: 20 bytes, then the stream.
  EXPECT_EQ(library->bitcode(first).substr(20, 8), "BC\xC0\xDE one");
  EXPECT_EQ(library->bitcode(first).size() % 16, 0u);
  auto constants = library->constants(first);
  ASSERT_TRUE(static_cast<bool>(constants));
  ASSERT_EQ(constants->size(), 1u);
  EXPECT_EQ((*constants)[0].name, "flag");
  EXPECT_EQ((*constants)[0].data_type, 53u);
  EXPECT_EQ((*constants)[0].index, 200u);
  const MetallibFunction& second = library->functions()[1];
  EXPECT_EQ(second.type, 1);
  EXPECT_EQ(library->bitcode(second).substr(20, 15), "BC\xC0\xDE the second");
  auto none = library->constants(second);
  ASSERT_TRUE(static_cast<bool>(none));
  EXPECT_TRUE(none->empty());
}

// The layout as it is documented by offset, so that writer and reader cannot agree on a wrong one.
TEST(Metallib, HeaderFieldsAreWhereTheFormatHasThem) {
  std::string file = sample();
  auto u64 = [&](size_t offset) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; --i)
      value = value << 8 | static_cast<uint8_t>(file[offset + i]);
    return value;
  };
  EXPECT_EQ(file.substr(0, 4), "MTLB");
  EXPECT_EQ(u64(16), file.size());
  EXPECT_EQ(u64(24), 88u);
  EXPECT_EQ(file.substr(96, 4), "NAME") << "count at 88, group size at 92, then tags";
  EXPECT_EQ(file.substr(88 + 4 + u64(32), 4), "ENDT") << "extension tags behind the list";
  EXPECT_EQ(u64(40), 88 + 4 + u64(32) + 4);
  EXPECT_EQ(u64(56), u64(40) + u64(48));
  EXPECT_EQ(u64(72), u64(56) + u64(64));
  EXPECT_EQ(u64(72) + u64(80), file.size());
  EXPECT_EQ(file.substr(u64(72), 4), "\xDE\xC0\x17\x0B");
}

TEST(Metallib, EveryTruncationIsAnError) {
  std::string file = sample();
  for (size_t size = 0; size < file.size(); ++size) {
    auto library = Metallib::parse(bytes_of(file).take_front(size));
    ASSERT_FALSE(static_cast<bool>(library)) << size;
    llvm::consumeError(library.takeError());
  }
}

TEST(Metallib, DamageNeverReadsOutside) {
  std::string file = sample();
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = file;
    for (int i = 0; i < 3; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    auto library = Metallib::parse(bytes_of(damaged));
    if (!library) {
      llvm::consumeError(library.takeError());
      continue;
    }
    for (const MetallibFunction& function : library->functions()) {
      llvm::StringRef bitcode = library->bitcode(function);
      EXPECT_GE(bitcode.data(), damaged.data());
      EXPECT_LE(bitcode.data() + bitcode.size(), damaged.data() + damaged.size());
      auto constants = library->constants(function);
      if (!constants)
        llvm::consumeError(constants.takeError());
    }
  }
}

TEST(Metallib, OtherFilesAreNamedAsSuch) {
  std::string text(200, 'x');
  auto library = Metallib::parse(bytes_of(text));
  ASSERT_FALSE(static_cast<bool>(library));
  EXPECT_EQ(llvm::toString(library.takeError()), "metallib: it does not start with 'MTLB'");
}

} // namespace
} // namespace bessemer::air
