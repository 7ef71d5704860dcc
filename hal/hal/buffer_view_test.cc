// Buffer views: their text form, sizes, offsets and ranges.

#include <cstring>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

using ::iree::Status;
using ::iree::StatusCode;
using ::iree::testing::status::StatusIs;

class BufferViewTest : public ::testing::Test {
protected:
  void SetUp() override {
    IREE_ASSERT_OK(iree_hal_allocator_create_heap(IREE_SV("test"), iree_allocator_system(),
                                                  iree_allocator_system(), &allocator_));
  }
  void TearDown() override { iree_hal_allocator_release(allocator_); }

  iree_status_t parse(const std::string& text, iree_hal_buffer_view_t** out_view) {
    return iree_hal_buffer_view_parse(iree_make_string_view(text.data(), text.size()), nullptr,
                                      allocator_, out_view);
  }
  std::string format(iree_hal_buffer_view_t* view, size_t limit = SIZE_MAX) {
    char text[512];
    iree_host_size_t length = 0;
    IREE_EXPECT_OK(iree_hal_buffer_view_format(view, limit, sizeof(text), text, &length));
    EXPECT_EQ(std::strlen(text), length);
    return text;
  }
  std::string roundTrip(const std::string& text, size_t limit = SIZE_MAX) {
    iree_hal_buffer_view_t* view = nullptr;
    Status status(parse(text, &view));
    if (!status.ok())
      return status.ToString();
    std::string result = format(view, limit);
    iree_hal_buffer_view_release(view);
    return result;
  }

  iree_hal_allocator_t* allocator_ = nullptr;
};

TEST_F(BufferViewTest, ReadsAndWritesText) {
  const std::pair<const char*, const char*> cases[] = {
      {"4xf32=1 2 3 4", "4xf32=1 2 3 4"},
      {"2x2xi32=1,2,3,4", "2x2xi32=[1 2][3 4]"},
      {"4xi32=[[1 2][3 4]]", "4xi32=1 2 3 4"},
      {"f32=3.5", "f32=3.5"},
      {"xf32=1", "f32=1"},
      {"4xf32=2", "4xf32=2 2 2 2"},
      {"4xf32", "4xf32=0 0 0 0"},
      {"4xf32=", "4xf32=0 0 0 0"},
      {"  \" 2xi8=0x7F -1 \" ", "2xi8=127 -1"},
      {"2xi8=255 -128", "2xi8=-1 -128"},
      {"2xui8=255 0x10", "2xui8=255 16"},
      {"2xsi8=-128 127", "2xsi8=-128 127"},
      {"2xi64=-9223372036854775808 0xFFFFFFFFFFFFFFFF", "2xi64=-9223372036854775808 -1"},
      {"2xf16=1e9 nan", "2xf16=INF NAN"},
      {"3xbf16=1 -2.5 1e38", "3xbf16=1 -2.5 9.96921E+37"},
      {"2xf64=0.1 -inf", "2xf64=0.1 -INF"},
      {"3xf8E4M3FN=1 448 1000", "3xf8E4M3FN=1 448 NAN"},
      {"2xf8E5M2=57344 1e9", "2xf8E5M2=57344 INF"},
      {"2xi1=01 00", "2xi1=01 00"},
      {"1xcf64=0000803F00000040", "1xcf64=0000803F00000040"},
      {"2x*16=0102 0304", "2x*16=0102 0304"},
      {"2x*16=0102 0a0B", "2x*16=0102 0A0B"},
      {"8xi4=12 34 56 78", "8xi4=12 34 56 78"},
      {"0xf32=", "0xf32="},
      {"2x0x3xf32", "2x0x3xf32=[][]"},
      {"2x1x2xi8=1 2 3 4", "2x1x2xi8=[[1 2]][[3 4]]"},
  };
  for (const auto& [input, output] : cases)
    EXPECT_EQ(roundTrip(input), output) << input;
}

TEST_F(BufferViewTest, RefusesTextThatIsWrong) {
  const std::pair<const char*, StatusCode> cases[] = {
      {"3xf32=1 2", StatusCode::kOutOfRange},
      {"2xf32=1 2 3", StatusCode::kOutOfRange},
      {"2xi8=300 1", StatusCode::kInvalidArgument},
      {"2xi8=-129 1", StatusCode::kInvalidArgument},
      {"2xui8=-1 1", StatusCode::kInvalidArgument},
      {"2xsi8=128 1", StatusCode::kInvalidArgument},
      {"-1xf32=1", StatusCode::kInvalidArgument},
      {"2xq32=1 2", StatusCode::kInvalidArgument},
      {"", StatusCode::kInvalidArgument},
      {"=1", StatusCode::kInvalidArgument},
      {"2xxf32=1", StatusCode::kInvalidArgument},
      {"2xf=1", StatusCode::kInvalidArgument},
      {"2xf32=1 x", StatusCode::kInvalidArgument},
      {"4xi1=1 0 1 1", StatusCode::kInvalidArgument},
      {"8xi4=1", StatusCode::kInvalidArgument},
      {"2xcf64=1 2", StatusCode::kInvalidArgument},
      {"2xi256=1 2", StatusCode::kInvalidArgument},
      {"2xi8=0x 1", StatusCode::kInvalidArgument},
      {"2xi64=18446744073709551616 1", StatusCode::kInvalidArgument},
  };
  for (const auto& [input, code] : cases) {
    iree_hal_buffer_view_t* view = nullptr;
    EXPECT_THAT(Status(parse(input, &view)), StatusIs(code)) << input;
    EXPECT_EQ(view, nullptr);
  }
  std::string tooMany;
  for (int i = 0; i < 129; ++i)
    tooMany += "1x";
  iree_hal_buffer_view_t* view = nullptr;
  EXPECT_THAT(Status(parse(tooMany + "i8=1", &view)), StatusIs(StatusCode::kResourceExhausted));
  IREE_EXPECT_OK(parse(tooMany.substr(2) + "i8=1", &view));
  iree_hal_buffer_view_release(view);
}

TEST_F(BufferViewTest, StopsAtTheElementLimit) {
  const char* text = "2x3xf32=1 2 3 4 5 6";
  EXPECT_EQ(roundTrip(text, 0), "2x3xf32=[...][...]");
  EXPECT_EQ(roundTrip(text, 1), "2x3xf32=[1...][...]");
  EXPECT_EQ(roundTrip(text, 4), "2x3xf32=[1 2 3][4...]");
  EXPECT_EQ(roundTrip(text, 6), "2x3xf32=[1 2 3][4 5 6]");
}

TEST_F(BufferViewTest, TellsTheLengthThatTextNeeds) {
  iree_hal_buffer_view_t* view = nullptr;
  IREE_ASSERT_OK(parse("2x3xf32=1 2 3 4 5 6", &view));
  const size_t needed = std::strlen("2x3xf32=[1 2 3][4 5 6]");
  char text[64];
  for (size_t capacity : {size_t{0}, needed / 2, needed, needed + 1}) {
    iree_host_size_t length = 0;
    iree_status_t status =
        iree_hal_buffer_view_format(view, SIZE_MAX, capacity, capacity ? text : nullptr, &length);
    EXPECT_EQ(length, needed);
    EXPECT_THAT(Status(std::move(status)),
                StatusIs(capacity > needed ? StatusCode::kOk : StatusCode::kOutOfRange));
  }
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  IREE_ASSERT_OK(iree_string_builder_append_cstring(&builder, "<"));
  IREE_ASSERT_OK(iree_hal_buffer_view_append_to_builder(view, SIZE_MAX, &builder));
  const iree_string_view_t appended = iree_string_builder_view(&builder);
  EXPECT_EQ(std::string(appended.data, appended.size), "<2x3xf32=[1 2 3][4 5 6]");
  iree_string_builder_deinitialize(&builder);
  iree_hal_buffer_view_release(view);
}

TEST_F(BufferViewTest, NamesElementTypes) {
  const std::pair<const char*, iree_hal_element_type_t> cases[] = {
      {"i1", IREE_HAL_ELEMENT_TYPE_BOOL_8},
      {"i8", IREE_HAL_ELEMENT_TYPE_INT_8},
      {"si16", IREE_HAL_ELEMENT_TYPE_SINT_16},
      {"ui64", IREE_HAL_ELEMENT_TYPE_UINT_64},
      {"f16", IREE_HAL_ELEMENT_TYPE_FLOAT_16},
      {"bf16", IREE_HAL_ELEMENT_TYPE_BFLOAT_16},
      {"cf128", IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_128},
      {"f8E4M3FNUZ", IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FNUZ},
      {"f8E8M0FNU", IREE_HAL_ELEMENT_TYPE_FLOAT_8_E8M0_FNU},
      {"*32", IREE_HAL_ELEMENT_TYPE_OPAQUE_32},
  };
  for (const auto& [name, type] : cases) {
    iree_hal_element_type_t parsed = 0;
    IREE_EXPECT_OK(iree_hal_parse_element_type(iree_make_cstring_view(name), &parsed));
    EXPECT_EQ(parsed, type) << name;
    char text[16];
    iree_host_size_t length = 0;
    IREE_EXPECT_OK(iree_hal_format_element_type(type, sizeof(text), text, &length));
    EXPECT_STREQ(text, name);
  }
}

TEST_F(BufferViewTest, MeasuresShapes) {
  struct {
    std::vector<iree_hal_dim_t> shape;
    iree_hal_element_type_t type;
    iree_device_size_t size;
  } const cases[] = {
      {{}, IREE_HAL_ELEMENT_TYPE_FLOAT_32, 4}, {{2, 3}, IREE_HAL_ELEMENT_TYPE_FLOAT_16, 12},
      {{5}, IREE_HAL_ELEMENT_TYPE_INT_4, 3},   {{7, 0}, IREE_HAL_ELEMENT_TYPE_FLOAT_64, 0},
      {{3}, IREE_HAL_ELEMENT_TYPE_BOOL_8, 3},
  };
  for (const auto& c : cases) {
    iree_device_size_t size = 99;
    IREE_EXPECT_OK(iree_hal_buffer_compute_view_size(
        c.shape.size(), c.shape.data(), c.type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &size));
    EXPECT_EQ(size, c.size);
  }
  iree_device_size_t size = 0;
  const iree_hal_dim_t huge[] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
  EXPECT_THAT(
      Status(iree_hal_buffer_compute_view_size(2, huge, IREE_HAL_ELEMENT_TYPE_INT_8,
                                               IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &size)),
      StatusIs(StatusCode::kOutOfRange));
  EXPECT_FALSE(
      Status(iree_hal_buffer_compute_view_size(1, huge, IREE_HAL_ELEMENT_TYPE_NONE,
                                               IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &size))
          .ok());
  EXPECT_FALSE(Status(iree_hal_buffer_compute_view_size(1, huge, IREE_HAL_ELEMENT_TYPE_INT_8,
                                                        IREE_HAL_ENCODING_TYPE_OPAQUE, &size))
                   .ok());
}

TEST_F(BufferViewTest, FindsElementsAndContiguousBlocks) {
  const iree_hal_dim_t shape[] = {4, 3, 5};
  const auto type = IREE_HAL_ELEMENT_TYPE_FLOAT_32;
  const auto dense = IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR;
  iree_device_size_t offset = 0, length = 0;
  const iree_hal_dim_t at[] = {2, 1, 3};
  IREE_EXPECT_OK(iree_hal_buffer_compute_view_offset(3, shape, type, dense, 3, at, &offset));
  EXPECT_EQ(offset, ((2 * 3 + 1) * 5 + 3) * 4u);
  EXPECT_THAT(Status(iree_hal_buffer_compute_view_offset(3, shape, type, dense, 2, at, &offset)),
              StatusIs(StatusCode::kInvalidArgument));
  const iree_hal_dim_t beyond[] = {2, 3, 0};
  EXPECT_THAT(
      Status(iree_hal_buffer_compute_view_offset(3, shape, type, dense, 3, beyond, &offset)),
      StatusIs(StatusCode::kOutOfRange));

  struct {
    iree_hal_dim_t start[3], lengths[3];
    StatusCode code;
    iree_device_size_t offset, length;
  } const cases[] = {
      {{0, 0, 0}, {4, 3, 5}, StatusCode::kOk, 0, 240},
      {{1, 0, 0}, {2, 3, 5}, StatusCode::kOk, 60, 120},
      {{3, 1, 0}, {1, 2, 5}, StatusCode::kOk, 200, 40},
      {{3, 2, 1}, {1, 1, 3}, StatusCode::kOk, 224, 12},
      {{0, 0, 0}, {2, 3, 4}, StatusCode::kUnimplemented, 0, 0},
      {{0, 0, 0}, {2, 1, 5}, StatusCode::kUnimplemented, 0, 0},
      {{3, 0, 0}, {2, 3, 5}, StatusCode::kOutOfRange, 0, 0},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(Status(iree_hal_buffer_compute_view_range(3, shape, type, dense, 3, c.start, 3,
                                                          c.lengths, &offset, &length)),
                StatusIs(c.code));
    EXPECT_EQ(offset, c.offset);
    EXPECT_EQ(length, c.length);
  }
}

TEST_F(BufferViewTest, ReshapesWithinItsRank) {
  iree_hal_buffer_view_t* view = nullptr;
  IREE_ASSERT_OK(parse("2x3xi8=1 2 3 4 5 6", &view));
  const iree_hal_dim_t turned[] = {3, 2}, flat[] = {6}, wrong[] = {4, 2}, deep[] = {1, 2, 3};
  IREE_EXPECT_OK(iree_hal_buffer_view_reshape(view, turned, 2));
  EXPECT_EQ(format(view), "3x2xi8=[1 2][3 4][5 6]");
  IREE_EXPECT_OK(iree_hal_buffer_view_reshape(view, flat, 1));
  EXPECT_EQ(format(view), "6xi8=1 2 3 4 5 6");
  EXPECT_FALSE(Status(iree_hal_buffer_view_reshape(view, wrong, 2)).ok());
  EXPECT_FALSE(Status(iree_hal_buffer_view_reshape(view, deep, 3)).ok());
  iree_hal_buffer_view_release(view);
}

TEST(BitNames, AreJoinedWithTheCombinedOnesFirst) {
  iree_bitfield_string_temp_t temp;
  auto text = [](iree_string_view_t view) { return std::string(view.data, view.size); };
  EXPECT_EQ(text(iree_hal_buffer_usage_format(
                IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING, &temp)),
            "TRANSFER|DISPATCH_STORAGE|MAPPING");
  EXPECT_EQ(text(iree_hal_memory_type_format(
                IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE, &temp)),
            "DEVICE_LOCAL|HOST_VISIBLE");
  EXPECT_EQ(text(iree_hal_memory_access_format(IREE_HAL_MEMORY_ACCESS_ALL, &temp)), "ALL");
  EXPECT_EQ(text(iree_hal_memory_type_format(1u << 30, &temp)), "40000000h");
  EXPECT_EQ(text(iree_hal_memory_type_format(0, &temp)), "");
  iree_hal_buffer_usage_t usage = 0;
  IREE_EXPECT_OK(iree_hal_buffer_usage_parse(IREE_SV("TRANSFER|MAPPING"), &usage));
  EXPECT_EQ(usage, IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING);
  EXPECT_THAT(Status(iree_hal_buffer_usage_parse(IREE_SV("TRANSFER|NONSENSE"), &usage)),
              StatusIs(StatusCode::kInvalidArgument));
}

} // namespace
