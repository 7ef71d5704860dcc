// How the VM reports errors: Result<T> is std::expected with an Error that carries a code, one line
// of text and, when it crossed bytecode, the call stack. No exceptions.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bessemer::vm {

// Numbered as iree_status_code_t, which programs see in `fail` and as results of hal.fence.await.
enum class StatusCode : uint32_t {
  Ok = 0,
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
  Unauthenticated = 16,
  Deferred = 17,
  Incompatible = 18,
};

// The name as IREE's tools print it: "INVALID_ARGUMENT".
std::string_view statusCodeName(StatusCode code);

// One function on the call stack of an error, innermost first.
struct TraceFrame {
  std::string module;
  std::string function;
  uint32_t pc = 0;      // byte offset of the operation in the function's bytecode
  std::string location; // "file:line:column" of the model, or empty without a debug database
};

class [[nodiscard]] Error {
public:
  Error(StatusCode code, std::string message);
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  Error(const Error& other);
  Error& operator=(const Error& other);
  ~Error();

  StatusCode code() const { return data_->code; }
  const std::string& message() const { return data_->message; }
  const std::vector<TraceFrame>& trace() const { return data_->trace; }

  // Puts `context` and ": " before the message.
  Error&& prefix(std::string_view context) &&;
  void appendFrame(TraceFrame frame) { data_->trace.push_back(std::move(frame)); }

  // "CODE; message", then a line for each frame of the trace.
  std::string toString() const;

private:
  struct Data {
    StatusCode code;
    std::string message;
    std::vector<TraceFrame> trace;
  };
  std::unique_ptr<Data> data_;
};

template <class T>
using Result = std::expected<T, Error>;

namespace detail {
void append(std::string& text, std::string_view part);
void append(std::string& text, int64_t value);
void append(std::string& text, uint64_t value);
void append(std::string& text, double value);
template <class T>
void appendPart(std::string& text, const T& part) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    append(text, std::string_view(part));
  } else if constexpr (std::is_same_v<T, char>) {
    append(text, std::string_view(&part, 1));
  } else if constexpr (std::is_floating_point_v<T>) {
    append(text, static_cast<double>(part));
  } else if constexpr (std::is_signed_v<T>) {
    append(text, static_cast<int64_t>(part));
  } else {
    append(text, static_cast<uint64_t>(part));
  }
}
} // namespace detail

// The parts (texts and numbers) written one after another.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (detail::appendPart(text, parts), ...);
  return text;
}

// `return fail(StatusCode::NotFound, "no function ", name);`
template <class... Parts>
std::unexpected<Error> fail(StatusCode code, const Parts&... parts) {
  return std::unexpected(Error(code, concat(parts...)));
}

// The error of a failed result, for a function that returns another type.
template <class T>
std::unexpected<Error> propagate(Result<T>&& result) {
  return std::unexpected(std::move(result).error());
}

} // namespace bessemer::vm

// Early returns are control flow, which a function cannot do.
#define BESSEMER_CONCAT_INNER(a, b) a##b
#define BESSEMER_CONCAT(a, b) BESSEMER_CONCAT_INNER(a, b)
#define BESSEMER_RETURN_IF_ERROR(expression)                                                       \
  do {                                                                                             \
    if (auto bessemer_result = (expression); !bessemer_result) [[unlikely]]                        \
      return ::bessemer::vm::propagate(std::move(bessemer_result));                                \
  } while (false)
#define BESSEMER_ASSIGN_OR_RETURN(declaration, expression)                                         \
  auto BESSEMER_CONCAT(bessemer_result_, __LINE__) = (expression);                                 \
  if (!BESSEMER_CONCAT(bessemer_result_, __LINE__)) [[unlikely]]                                   \
    return ::bessemer::vm::propagate(std::move(BESSEMER_CONCAT(bessemer_result_, __LINE__)));      \
  declaration = *std::move(BESSEMER_CONCAT(bessemer_result_, __LINE__))
