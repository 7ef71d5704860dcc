// GoogleTest matchers and assertions for iree_status_t, iree::Status and iree::StatusOr.

#ifndef IREE_TESTING_STATUS_MATCHERS_H_
#define IREE_TESTING_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <utility>

#include "iree/base/api.h"
#include "iree/testing/gtest.h"

namespace iree {
namespace internal {

// One view of everything that has a status.
inline iree_status_t StatusOf(iree_status_t status) { return status; }
inline iree_status_t StatusOf(const Status& status) { return status.get(); }
inline iree_status_t StatusOf(StatusCode code) {
  return iree_status_from_code(static_cast<iree_status_code_t>(code));
}
template <typename T>
iree_status_t StatusOf(const StatusOr<T>& status_or) {
  return status_or.ok() ? iree_ok_status() : status_or.status().get();
}

class StatusIsMatcher {
public:
  using is_gtest_matcher = void;

  StatusIsMatcher(StatusCode code, std::string message)
      : message_(std::move(message)), code_(code) {}

  template <typename T>
  bool MatchAndExplain(const T& value, ::testing::MatchResultListener* listener) const {
    iree_status_t status = StatusOf(value);
    if (!iree_status_is_ok(status))
      *listener << "whose text is " << Status::ToString(status);
    if (iree_status_code(status) != static_cast<iree_status_code_t>(code_))
      return false;
    if (message_.empty())
      return true;
    iree_string_view_t actual = iree_status_message(status);
    return message_ == std::string(actual.data, actual.size);
  }
  bool MatchAndExplain(const iree_status_t& value, std::ostream* os) const {
    ::testing::StringMatchResultListener listener;
    bool matches = MatchAndExplain(value, static_cast<::testing::MatchResultListener*>(&listener));
    if (os)
      *os << listener.str();
    return matches;
  }

  void DescribeTo(std::ostream* os) const { Describe("has", os); }
  void DescribeNegationTo(std::ostream* os) const { Describe("does not have", os); }

private:
  void Describe(const char* verb, std::ostream* os) const {
    *os << verb << " status code " << StatusCodeToString(code_);
    if (!message_.empty())
      *os << " with message \"" << message_ << '"';
  }

  std::string message_;
  StatusCode code_;
};

template <typename ValueMatcher>
class IsOkAndHoldsMatcher {
public:
  using is_gtest_matcher = void;

  explicit IsOkAndHoldsMatcher(ValueMatcher matcher) : matcher_(std::move(matcher)) {}

  template <typename T>
  bool MatchAndExplain(const StatusOr<T>& value, ::testing::MatchResultListener* listener) const {
    if (!value.ok()) {
      *listener << "whose status is " << value.status().ToString();
      return false;
    }
    return ::testing::SafeMatcherCast<const T&>(matcher_).MatchAndExplain(*value, listener);
  }

  void DescribeTo(std::ostream* os) const { *os << "is OK and holds a matching value"; }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "is not OK or holds a value that does not match";
  }

private:
  ValueMatcher matcher_;
};

// What the assertions below compare: they own the status from here on, as a callee would.
inline Status ConsumeForTest(iree_status_t& status) { return Status(std::move(status)); }
inline Status ConsumeForTest(iree_status_t&& status) { return Status(std::move(status)); }
inline Status ConsumeForTest(Status& status) { return Status(std::move(status)); }
inline Status ConsumeForTest(Status&& status) { return std::move(status); }
inline Status ConsumeForTest(const Status& status) {
  return Status(iree_status_clone(status.get()));
}

} // namespace internal

namespace testing {
namespace status {

// Matches a code, and a message when one is given.
inline internal::StatusIsMatcher StatusIs(StatusCode code, std::string message = {}) {
  return {code, std::move(message)};
}
inline internal::StatusIsMatcher StatusIs(iree_status_code_t code, std::string message = {}) {
  return {static_cast<StatusCode>(code), std::move(message)};
}
inline internal::StatusIsMatcher IsOk() { return {StatusCode::kOk, {}}; }

template <typename ValueMatcher>
internal::IsOkAndHoldsMatcher<ValueMatcher> IsOkAndHolds(ValueMatcher matcher) {
  return internal::IsOkAndHoldsMatcher<ValueMatcher>(std::move(matcher));
}

} // namespace status
} // namespace testing

inline void PrintTo(const Status& status, std::ostream* os) { *os << status.ToString(); }

} // namespace iree

#define IREE_EXPECT_STATUS_IS(expected_code, expr)                                                 \
  EXPECT_THAT(::iree::internal::ConsumeForTest(expr),                                              \
              ::iree::testing::status::StatusIs(static_cast<::iree::StatusCode>(expected_code)))
#define IREE_ASSERT_STATUS_IS(expected_code, expr)                                                 \
  ASSERT_THAT(::iree::internal::ConsumeForTest(expr),                                              \
              ::iree::testing::status::StatusIs(static_cast<::iree::StatusCode>(expected_code)))
#define IREE_EXPECT_OK(expr)                                                                       \
  EXPECT_THAT(::iree::internal::ConsumeForTest(expr), ::iree::testing::status::IsOk())
#define IREE_ASSERT_OK(expr)                                                                       \
  ASSERT_THAT(::iree::internal::ConsumeForTest(expr), ::iree::testing::status::IsOk())
#define IREE_EXPECT_NOT_OK(expr)                                                                   \
  EXPECT_THAT(::iree::internal::ConsumeForTest(expr),                                              \
              ::testing::Not(::iree::testing::status::IsOk()))
#define IREE_ASSERT_NOT_OK(expr)                                                                   \
  ASSERT_THAT(::iree::internal::ConsumeForTest(expr),                                              \
              ::testing::Not(::iree::testing::status::IsOk()))

#define IREE_ASSERT_OK_AND_ASSIGN_(status_or, lhs, expr)                                           \
  auto status_or = (expr);                                                                         \
  ASSERT_TRUE(status_or.ok()) << status_or.status().ToString();                                    \
  lhs = std::move(status_or).value()
#define IREE_ASSERT_OK_AND_ASSIGN(lhs, expr)                                                       \
  IREE_ASSERT_OK_AND_ASSIGN_(IREE_STATUS_JOIN_(status_or_, __COUNTER__), lhs, expr)

#endif // IREE_TESTING_STATUS_MATCHERS_H_
