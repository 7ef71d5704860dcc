// iree::Status and iree::StatusOr: statuses that free themselves.

#ifndef IREE_BASE_STATUS_CC_H_
#define IREE_BASE_STATUS_CC_H_

#ifndef __cplusplus
#error "iree/base/status_cc.h is C++"
#endif

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "iree/base/attributes.h"
#include "iree/base/status.h"

namespace iree {

// A place in the source, for statuses made by hand.
class SourceLocation {
public:
  constexpr SourceLocation() = default;
  constexpr SourceLocation(std::uint_least32_t line, const char* file_name)
      : file_name_(file_name), line_(line) {}
  constexpr std::uint_least32_t line() const { return line_; }
  constexpr const char* file_name() const { return file_name_; }

private:
  const char* file_name_ = nullptr;
  std::uint_least32_t line_ = 0;
};

#if IREE_STATUS_FEATURES & IREE_STATUS_FEATURE_SOURCE_LOCATION
#define IREE_LOC ::iree::SourceLocation(__LINE__, __FILE__)
#else
#define IREE_LOC ::iree::SourceLocation()
#endif

enum class StatusCode : uint32_t {
  kOk = IREE_STATUS_OK,
  kCancelled = IREE_STATUS_CANCELLED,
  kUnknown = IREE_STATUS_UNKNOWN,
  kInvalidArgument = IREE_STATUS_INVALID_ARGUMENT,
  kDeadlineExceeded = IREE_STATUS_DEADLINE_EXCEEDED,
  kNotFound = IREE_STATUS_NOT_FOUND,
  kAlreadyExists = IREE_STATUS_ALREADY_EXISTS,
  kPermissionDenied = IREE_STATUS_PERMISSION_DENIED,
  kResourceExhausted = IREE_STATUS_RESOURCE_EXHAUSTED,
  kFailedPrecondition = IREE_STATUS_FAILED_PRECONDITION,
  kAborted = IREE_STATUS_ABORTED,
  kOutOfRange = IREE_STATUS_OUT_OF_RANGE,
  kUnimplemented = IREE_STATUS_UNIMPLEMENTED,
  kInternal = IREE_STATUS_INTERNAL,
  kUnavailable = IREE_STATUS_UNAVAILABLE,
  kDataLoss = IREE_STATUS_DATA_LOSS,
  kUnauthenticated = IREE_STATUS_UNAUTHENTICATED,
  kDeferred = IREE_STATUS_DEFERRED,
  kIncompatible = IREE_STATUS_INCOMPATIBLE,
};

inline const char* StatusCodeToString(StatusCode code) {
  return iree_status_code_string(static_cast<iree_status_code_t>(code));
}

// Owns a status. Moving from one leaves its code behind, without the details.
class [[nodiscard]] Status final {
public:
  Status() = default;
  // Takes the details out of `status`, so that what the caller holds need not be freed.
  Status(iree_status_t&& status) noexcept : value_(take(status)) {}
  Status(Status&& other) noexcept : value_(take(other.value_)) {}
  Status(Status& other) noexcept : value_(take(other.value_)) {}
  Status(iree_status_code_t code) : value_(iree_status_from_code(code)) {}
  Status(StatusCode code) : Status(static_cast<iree_status_code_t>(code)) {}
  Status(StatusCode code, const char* message) : Status(code, SourceLocation(), message) {}
  Status(StatusCode code, SourceLocation location, const char* message) : Status(code) {
    if (value_ && message && message[0]) {
      value_ = iree_status_allocate(static_cast<iree_status_code_t>(code), location.file_name(),
                                    location.line(), iree_make_cstring_view(message));
    }
  }
  ~Status() { iree_status_free(value_); }

  Status& operator=(Status&& other) noexcept {
    // The old value dies with `old`, after the new one was taken: assigning to itself is harmless.
    Status old(std::move(value_));
    value_ = take(&other == this ? old.value_ : other.value_);
    return *this;
  }
  Status& operator=(StatusCode code) { return *this = Status(code); }
  Status& operator=(iree_status_code_t code) { return *this = Status(code); }

  IREE_MUST_USE_RESULT bool ok() const { return iree_status_is_ok(value_); }
  IREE_MUST_USE_RESULT StatusCode code() const {
    return static_cast<StatusCode>(iree_status_code(value_));
  }
  void IgnoreError() { value_ = iree_status_ignore(value_); }

  // Without giving it up, and giving it up.
  iree_status_t get() const { return value_; }
  IREE_MUST_USE_RESULT iree_status_t release() { return std::exchange(value_, iree_ok_status()); }
  IREE_MUST_USE_RESULT operator iree_status_t() && { return take(value_); }

  IREE_MUST_USE_RESULT std::string ToString() const { return ToString(value_); }
  IREE_MUST_USE_RESULT static std::string ToString(iree_status_t status) {
    if (iree_status_is_ok(status))
      return "OK";
    std::string text;
    iree_status_format_to(
        status,
        +[](iree_string_view_t piece, void* text) {
          static_cast<std::string*>(text)->append(piece.data, piece.size);
          return true;
        },
        &text);
    return text;
  }

  friend bool operator==(const Status& lhs, const Status& rhs) { return lhs.code() == rhs.code(); }
  friend bool operator!=(const Status& lhs, const Status& rhs) { return lhs.code() != rhs.code(); }
  friend bool operator==(const Status& lhs, StatusCode rhs) { return lhs.code() == rhs; }
  friend bool operator!=(const Status& lhs, StatusCode rhs) { return lhs.code() != rhs; }
  friend bool operator==(StatusCode lhs, const Status& rhs) { return lhs == rhs.code(); }
  friend bool operator!=(StatusCode lhs, const Status& rhs) { return lhs != rhs.code(); }

private:
  static iree_status_t take(iree_status_t& status) {
    return std::exchange(status, iree_status_from_code(iree_status_code(status)));
  }

  iree_status_t value_ = iree_ok_status();
};

IREE_MUST_USE_RESULT inline Status OkStatus() { return Status(); }
IREE_MUST_USE_RESULT inline bool IsOk(const Status& status) { return status.ok(); }
IREE_MUST_USE_RESULT inline bool IsOk(const iree_status_t& status) {
  return iree_status_is_ok(status);
}

// A value, or the failure that kept it from being made.
template <typename T>
class [[nodiscard]] StatusOr final {
public:
  using element_type = T;

  StatusOr() : status_(StatusCode::kUnknown) {}
  StatusOr(Status&& status) : status_(std::move(status)) {}
  StatusOr(iree_status_t&& status) : status_(std::move(status)) {}
  template <typename U, typename = std::enable_if_t<std::is_constructible_v<T, U&&> &&
                                                    !std::is_convertible_v<U&&, Status> &&
                                                    !std::is_same_v<std::decay_t<U>, StatusOr>>>
  StatusOr(U&& value) : value_(std::forward<U>(value)) {}

  IREE_MUST_USE_RESULT bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  // Only when ok(); ends the process otherwise.
  T& value() & { return check(), *value_; }
  const T& value() const& { return check(), *value_; }
  T&& value() && { return check(), *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

private:
  void check() const {
    if (!value_)
      iree_status_abort(status_.get());
  }

  std::optional<T> value_;
  Status status_;
};

template <typename T>
IREE_MUST_USE_RESULT bool IsOk(const StatusOr<T>& status_or) {
  return status_or.ok();
}

} // namespace iree

#endif // IREE_BASE_STATUS_CC_H_
