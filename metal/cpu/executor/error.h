// How the executor reports what went wrong: one clear line of text in the error arm of an expected.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace bessemer::metal::cpu {

struct Error {
  std::string message;
};

template <typename T>
using Expected = std::expected<T, Error>;

inline std::unexpected<Error> failure(std::string message) {
  return std::unexpected(Error{std::move(message)});
}

} // namespace bessemer::metal::cpu
