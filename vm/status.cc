#include "vm/status.h"

#include <array>
#include <cstdio>

namespace bessemer::vm {

std::string_view statusCodeName(StatusCode code) {
  static constexpr std::array<std::string_view, 19> names = {
      "OK",
      "CANCELLED",
      "UNKNOWN",
      "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED",
      "FAILED_PRECONDITION",
      "ABORTED",
      "OUT_OF_RANGE",
      "UNIMPLEMENTED",
      "INTERNAL",
      "UNAVAILABLE",
      "DATA_LOSS",
      "UNAUTHENTICATED",
      "DEFERRED",
      "INCOMPATIBLE",
  };
  auto index = static_cast<size_t>(code);
  return index < names.size() ? names[index] : "UNKNOWN";
}

Error::Error(StatusCode code, std::string message)
    : data_(std::make_unique<Data>(Data{code, std::move(message), {}})) {}

Error::Error(const Error& other) : data_(std::make_unique<Data>(*other.data_)) {}

Error& Error::operator=(const Error& other) {
  if (this != &other)
    data_ = std::make_unique<Data>(*other.data_);
  return *this;
}

Error::~Error() = default;

Error&& Error::prefix(std::string_view context) && {
  data_->message.insert(0, concat(context, ": "));
  return std::move(*this);
}

std::string Error::toString() const {
  std::string text = concat(statusCodeName(code()), "; ", message());
  for (size_t i = 0; i < trace().size(); ++i) {
    const TraceFrame& frame = trace()[i];
    std::string index = std::to_string(i);
    text += concat("\n  [", index.size() < 2 ? " " : "", index, "] ", frame.module, ".",
                   frame.function, "+", frame.pc);
    if (!frame.location.empty())
      text += concat(" at ", frame.location);
  }
  return text;
}

namespace detail {

void append(std::string& text, std::string_view part) { text.append(part); }

void append(std::string& text, int64_t value) { text += std::to_string(value); }

void append(std::string& text, uint64_t value) { text += std::to_string(value); }

void append(std::string& text, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.9g", value);
  text += buffer;
}

} // namespace detail

} // namespace bessemer::vm
