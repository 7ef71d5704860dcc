// Views, builders and bit fields.

#include <cstdint>
#include <string>

#include "iree/base/api.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

std::string Str(iree_string_view_t view) {
  return std::string(view.data ? view.data : "", view.size);
}

TEST(StringViewTest, MatchesPatterns) {
  const struct {
    const char* value;
    const char* pattern;
    bool matches;
  } kCases[] = {
      {"", "", true},
      {"", "*", true},
      {"a", "", false},
      {"metal", "metal", true},
      {"metal", "me*", true},
      {"metal", "*al", true},
      {"metal", "m?tal", true},
      {"metal", "m?al", false},
      {"abcabd", "*abd", true},
      {"aab", "*a*b", true},
      {"Suite.Test", "Suite.*", true},
      {"ab", "a*b*c", false},
      {"xx", "?", false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(iree_string_view_match_pattern(IREE_SV(c.value), IREE_SV(c.pattern)), c.matches)
        << c.value << " ~ " << c.pattern;
  }
}

TEST(StringViewTest, ParsesIntegersWholeOrNotAtAll) {
  int32_t i32 = 0;
  uint32_t u32 = 0;
  int64_t i64 = 0;
  uint64_t u64 = 0;
  EXPECT_TRUE(iree_string_view_atoi_int32(IREE_SV("-2147483648"), &i32));
  EXPECT_EQ(i32, INT32_MIN);
  EXPECT_FALSE(iree_string_view_atoi_int32(IREE_SV("2147483648"), &i32));
  EXPECT_TRUE(iree_string_view_atoi_uint32(IREE_SV("0xFFFFFFFF"), &u32));
  EXPECT_EQ(u32, UINT32_MAX);
  EXPECT_FALSE(iree_string_view_atoi_uint32(IREE_SV("-1"), &u32));
  EXPECT_FALSE(iree_string_view_atoi_uint32(IREE_SV("1x"), &u32));
  EXPECT_FALSE(iree_string_view_atoi_uint32(IREE_SV(""), &u32));
  EXPECT_TRUE(iree_string_view_atoi_int64(IREE_SV("-9223372036854775808"), &i64));
  EXPECT_EQ(i64, INT64_MIN);
  EXPECT_TRUE(iree_string_view_atoi_uint64_base(IREE_SV("00000001000000ff"), 16, &u64));
  EXPECT_EQ(u64, 0x1000000ffull);
  EXPECT_FALSE(iree_string_view_atoi_uint64(IREE_SV("18446744073709551616"), &u64));
}

TEST(StringViewTest, ParsesHexBytes) {
  uint8_t bytes[3] = {};
  EXPECT_TRUE(iree_string_view_parse_hex_bytes(IREE_SV("00-aB fF"), 3, bytes));
  EXPECT_EQ(bytes[1], 0xAB);
  EXPECT_EQ(bytes[2], 0xFF);
  EXPECT_FALSE(iree_string_view_parse_hex_bytes(IREE_SV("0011223"), 3, bytes));
  EXPECT_FALSE(iree_string_view_parse_hex_bytes(IREE_SV("00112233"), 3, bytes));
}

TEST(StringViewTest, ParsesDeviceSizes) {
  const struct {
    const char* text;
    uint64_t size;
  } kCases[] = {{"17", 17}, {"2kib", 2048}, {"2KB", 2000}, {"1gib", 1ull << 30}, {"5b", 5}};
  for (const auto& c : kCases) {
    iree_device_size_t size = 0;
    IREE_EXPECT_OK(iree_string_view_parse_device_size(IREE_SV(c.text), &size));
    EXPECT_EQ(size, c.size) << c.text;
  }
  iree_device_size_t size = 0;
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_string_view_parse_device_size(IREE_SV("12q"), &size));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_OUT_OF_RANGE,
                        iree_string_view_parse_device_size(IREE_SV("99999999999gib"), &size));
}

TEST(StringViewTest, SplitsAtTheFirst) {
  iree_string_view_t lhs, rhs;
  EXPECT_EQ(iree_string_view_split(IREE_SV("a=b=c"), '=', &lhs, &rhs), 1);
  EXPECT_EQ(Str(lhs), "a");
  EXPECT_EQ(Str(rhs), "b=c");
  EXPECT_EQ(iree_string_view_split(IREE_SV("abc"), '=', &lhs, &rhs), -1);
  EXPECT_EQ(Str(lhs), "abc");
  EXPECT_TRUE(iree_string_view_is_empty(rhs));
}

TEST(StringBuilderTest, GrowsAndFormats) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    IREE_ASSERT_OK(iree_string_builder_append_format(&builder, "%d,", i));
    expected += std::to_string(i) + ",";
  }
  EXPECT_EQ(Str(iree_string_builder_view(&builder)), expected);
  EXPECT_STREQ(iree_string_builder_buffer(&builder), expected.c_str());
  iree_string_builder_deinitialize(&builder);
}

TEST(StringBuilderTest, DryRunCountsAndFixedStorageRunsOut) {
  iree_string_builder_t counter;
  iree_string_builder_initialize(iree_allocator_null(), &counter);
  IREE_EXPECT_OK(iree_string_builder_append_cstring(&counter, "12345"));
  EXPECT_EQ(iree_string_builder_size(&counter), 5u);

  char storage[5];
  iree_string_builder_t fixed;
  iree_string_builder_initialize_with_storage(storage, sizeof(storage), &fixed);
  IREE_EXPECT_OK(iree_string_builder_append_cstring(&fixed, "1234"));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_RESOURCE_EXHAUSTED,
                        iree_string_builder_append_cstring(&fixed, "5"));
  EXPECT_EQ(iree_string_builder_size(&fixed), 5u);
}

TEST(BitfieldTest, NamesOfSeveralBitsComeFirstAndTheRestIsHex) {
  const iree_bitfield_string_mapping_t kNames[] = {
      {3, IREE_SVL("BOTH")}, {1, IREE_SVL("ONE")}, {2, IREE_SVL("TWO")}};
  auto format = [&](uint32_t value) {
    iree_bitfield_string_temp_t temp;
    return Str(iree_bitfield_format_inline(value, 3, kNames, &temp));
  };
  EXPECT_EQ(format(0), "");
  EXPECT_EQ(format(3), "BOTH");
  EXPECT_EQ(format(2), "TWO");
  EXPECT_EQ(format(0x43), "BOTH|40h");
  uint32_t value = 0;
  IREE_EXPECT_OK(iree_bitfield_parse(IREE_SV("one | TWO|40h"), 3, kNames, &value));
  EXPECT_EQ(value, 0x43u);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_bitfield_parse(IREE_SV("THREE"), 3, kNames, &value));
}

TEST(BitmapTest, FindsSpansAcrossWords) {
  uint64_t words[3] = {};
  iree_bitmap_t bitmap = {130, words};
  iree_bitmap_set_span(bitmap, 60, 10);
  EXPECT_EQ(iree_bitmap_count(bitmap), 10u);
  EXPECT_EQ(iree_bitmap_find_first_set(bitmap, 0), 60u);
  EXPECT_EQ(iree_bitmap_find_first_set(bitmap, 70), 130u);
  EXPECT_EQ(iree_bitmap_find_first_unset(bitmap, 60), 70u);
  EXPECT_EQ(iree_bitmap_find_first_unset_span(bitmap, 0, 60), 0u);
  EXPECT_EQ(iree_bitmap_find_first_unset_span(bitmap, 1, 60), 70u);
  EXPECT_EQ(iree_bitmap_find_first_unset_span(bitmap, 0, 61), 130u);
  iree_bitmap_reset(bitmap, 65);
  EXPECT_FALSE(iree_bitmap_test(bitmap, 65));
  iree_bitmap_set_all(bitmap);
  EXPECT_EQ(iree_bitmap_count(bitmap), 130u);
  EXPECT_EQ(words[2], 3u);
}

} // namespace
