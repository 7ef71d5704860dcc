#include "iree/base/status.h"

#include <cstdint>
#include <string>

#include "iree/base/allocator.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string Text(iree_status_t status) { return iree::Status::ToString(status); }

TEST(StatusTest, CodeAloneIsTheWordItself) {
  iree_status_t status = iree_status_from_code(IREE_STATUS_DEFERRED);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(status), 17u);
  EXPECT_TRUE(iree_status_is_deferred(status));
  EXPECT_EQ(Text(status), "DEFERRED");
}

TEST(StatusTest, KeepsLocationAndMessage) {
  iree_status_t status = iree_make_status(IREE_STATUS_NOT_FOUND, "100% missing");
  EXPECT_EQ(iree_status_code(status), IREE_STATUS_NOT_FOUND);
  EXPECT_EQ(iree_status_source_location(status).line, static_cast<uint32_t>(__LINE__ - 2));
  EXPECT_THAT(Text(status), EndsWith("NOT_FOUND; 100% missing"));
  EXPECT_THAT(Text(status), HasSubstr("status_test.cc:"));
  iree_status_free(status);
}

TEST(StatusTest, FormatsMessages) {
  iree_status_t status = iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%d of %s", 7, "nine");
  iree_string_view_t message = iree_status_message(status);
  EXPECT_EQ(std::string(message.data, message.size), "7 of nine");
  iree_status_free(status);
}

TEST(StatusTest, OkIsNeverAllocated) {
  EXPECT_EQ(iree_make_status(IREE_STATUS_OK, "fine"), nullptr);
  EXPECT_EQ(iree_status_annotate(iree_ok_status(), IREE_SV("more")), nullptr);
}

TEST(StatusTest, AnnotatesInOrderEvenACodeAlone) {
  iree_status_t status = iree_status_from_code(IREE_STATUS_ABORTED);
  status = iree_status_annotate(status, IREE_SV("first"));
  status = iree_status_annotate_f(status, "%s", "second");
  EXPECT_EQ(Text(status), "ABORTED; first; second");
  iree_status_free(status);
}

TEST(StatusTest, CloneOutlivesItsSource) {
  iree_status_t status = iree_status_annotate(
      iree_status_allocate_copy(IREE_STATUS_INTERNAL, IREE_SV("a.cc"), 3, IREE_SV("bad")),
      IREE_SV("note"));
  iree_status_t clone = iree_status_clone(status);
  iree_status_free(status);
  EXPECT_EQ(Text(clone), "a.cc:3: INTERNAL; bad; note");
  iree_status_free(clone);
}

TEST(StatusTest, JoinKeepsTheFirstCodeAndTheSecondText) {
  iree_status_t joined =
      iree_status_join(iree_status_from_code(IREE_STATUS_CANCELLED),
                       iree_status_allocate(IREE_STATUS_INTERNAL, nullptr, 0, IREE_SV("x")));
  EXPECT_EQ(Text(joined), "CANCELLED; INTERNAL; x");
  iree_status_free(joined);
  EXPECT_EQ(iree_status_join(iree_ok_status(), iree_ok_status()), nullptr);
}

TEST(StatusTest, FormatTellsTheLengthOfWhatDoesNotFit) {
  iree_status_t status = iree_status_from_code(IREE_STATUS_UNKNOWN);
  char buffer[4];
  iree_host_size_t length = 0;
  EXPECT_FALSE(iree_status_format(status, sizeof(buffer), buffer, &length));
  EXPECT_EQ(length, 7u);
  EXPECT_STREQ(buffer, "UNK");
  char enough[8];
  EXPECT_TRUE(iree_status_format(status, sizeof(enough), enough, &length));
  EXPECT_STREQ(enough, "UNKNOWN");
}

iree_status_t FailsWith(iree_status_t status) {
  if (true)
    IREE_RETURN_IF_ERROR(status, "while %s", "testing");
  return iree_ok_status();
}

TEST(StatusTest, ReturnIfErrorAnnotatesAndPassesOn) {
  EXPECT_EQ(FailsWith(iree_ok_status()), nullptr);
  iree_status_t status = FailsWith(iree_status_from_code(IREE_STATUS_DATA_LOSS));
  EXPECT_EQ(Text(status), "DATA_LOSS; while testing");
  iree_status_free(status);
}

TEST(StatusTest, StructLayoutAlignsFieldsAndFindsOverflow) {
  iree_host_size_t total = 0, first = 0, second = 0;
  IREE_EXPECT_OK(IREE_STRUCT_LAYOUT(5, &total, IREE_STRUCT_FIELD(3, uint8_t, &first),
                                    IREE_STRUCT_FIELD_ALIGNED(2, uint64_t, 16, &second)));
  EXPECT_EQ(first, 5u);
  EXPECT_EQ(second, 16u);
  EXPECT_EQ(total, 32u);
  EXPECT_THAT(iree::Status(IREE_STRUCT_LAYOUT(
                  8, &total, IREE_STRUCT_FIELD(IREE_HOST_SIZE_MAX, uint64_t, nullptr))),
              iree::testing::status::StatusIs(iree::StatusCode::kOutOfRange));
}

TEST(StatusTest, CppStatusMovesDetailsAndKeepsTheCode) {
  iree::Status first(iree_make_status(IREE_STATUS_UNAVAILABLE, "gone"));
  iree::Status second(std::move(first));
  EXPECT_EQ(first.code(), iree::StatusCode::kUnavailable);
  EXPECT_EQ(first.ToString(), "UNAVAILABLE");
  EXPECT_THAT(second.ToString(), HasSubstr("gone"));
  iree::StatusOr<int> value = 5;
  EXPECT_THAT(value, iree::testing::status::IsOkAndHolds(5));
  iree::StatusOr<int> failure = iree::Status(iree::StatusCode::kInternal);
  EXPECT_THAT(failure, iree::testing::status::StatusIs(iree::StatusCode::kInternal));
}

} // namespace
