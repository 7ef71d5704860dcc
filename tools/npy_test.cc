#include "tools/npy.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bessemer::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file(std::string header, std::string_view data, char major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {major, '\0'};
  uint32_t size = header.size();
  bytes.append(reinterpret_cast<char*>(&size), major == 1 ? 2 : 4);
  return bytes + header + std::string(data);
}

// What numpy.save(f, numpy.array([[1, 2, 3], [4, 5, 6]], 'f4')) writes.
std::string two_by_three() {
  float values[] = {1, 2, 3, 4, 5, 6};
  return file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
              {reinterpret_cast<char*>(values), sizeof(values)});
}

TEST(Npy, ReadsShapeTypeAndData) {
  auto array = parseNpy(two_by_three());
  ASSERT_TRUE(array) << array.error();
  EXPECT_EQ(array->element_type, 0x21000020u);
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  float third;
  std::memcpy(&third, array->data.data() + 8, 4);
  EXPECT_EQ(third, 3.0f);
}

TEST(Npy, ReadsVersionsTwoAndThreeAndScalars) {
  for (char major : {2, 3}) {
    auto array = parseNpy(file("{'descr': '<i8', 'fortran_order': False, 'shape': ()}",
                               std::string_view("\1\0\0\0\0\0\0\0", 8), major));
    ASSERT_TRUE(array) << array.error();
    EXPECT_THAT(array->shape, ElementsAre());
    EXPECT_EQ(array->data[0], 1);
  }
}

TEST(Npy, ArraysFollowOneAnotherInAFile) {
  std::string bytes = two_by_three() + two_by_three();
  size_t consumed = 0;
  ASSERT_TRUE(parseNpy(bytes, &consumed));
  EXPECT_EQ(consumed, bytes.size() / 2);
}

TEST(Npy, WritesWhatItReadsForEveryType) {
  for (uint32_t type : {0x13000008u, 0x10000008u, 0x10000010u, 0x10000020u, 0x10000040u,
                        0x12000008u, 0x12000010u, 0x12000020u, 0x12000040u, 0x21000010u,
                        0x21000020u, 0x21000040u, 0x23000040u, 0x23000080u, 0x00000010u}) {
    for (auto shape : {std::vector<uint64_t>{}, {3}, {2, 0}, {2, 3, 4}}) {
      Array array{type, shape, {}};
      array.data.resize(*byteLength(type, shape), 0x5A);
      std::string bytes;
      ASSERT_TRUE(formatNpy(array, bytes));
      EXPECT_EQ((bytes.size() - array.data.size()) % 64, 0u);
      auto back = parseNpy(bytes);
      ASSERT_TRUE(back) << back.error();
      EXPECT_EQ(back->element_type, type);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(back->data, array.data);
    }
  }
}

TEST(Npy, SignedAndBfloatTakeNumPysNames) {
  std::string bytes;
  ASSERT_TRUE(formatNpy({0x11000020, {1}, {0, 0, 0, 0}}, bytes));
  EXPECT_THAT(bytes, HasSubstr("'descr': '<i4'"));
  bytes.clear();
  ASSERT_TRUE(formatNpy({0x22000010, {1}, {0, 0}}, bytes));
  EXPECT_THAT(bytes, HasSubstr("'descr': '|V2'"));
  EXPECT_FALSE(formatNpy({0x10000004, {2}, {0}}, bytes));
}

TEST(Npy, SaysWhatIsWrong) {
  auto error = [](std::string header, std::string_view data = "") {
    return parseNpy(file(std::move(header), data)).error();
  };
  EXPECT_THAT(parseNpy("hello").error(), HasSubstr("not a .npy array"));
  EXPECT_THAT(error("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}"),
              HasSubstr("big-endian"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': True, 'shape': (2,2)}"),
              HasSubstr("Fortran order"));
  EXPECT_THAT(error("{'descr': 'O', 'fortran_order': False, 'shape': (2,)}"),
              HasSubstr("dtype 'O'"));
  EXPECT_THAT(error("{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (2,)}"),
              HasSubstr("structured"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "1234"),
              HasSubstr("after 4 of 8 bytes"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, "
                    "'shape': (18446744073709551615, 2)}"),
              HasSubstr("2^64"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}"),
              HasSubstr("2^61"));
  EXPECT_THAT(error("{'descr': '<f4', 'shape': (2,)}"), HasSubstr("lacks"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}"),
              HasSubstr("tuple"));
}

TEST(Npy, EveryTruncationIsAnError) {
  std::string whole = two_by_three();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parseNpy(std::string_view(whole).substr(0, size))) << size;
}

} // namespace
} // namespace bessemer::tools
