#include "vm/signature.h"

#include <optional>

namespace bessemer::vm {

namespace {

std::optional<ValueType> typeOfLetter(char letter) {
  switch (letter) {
  case 'i':
    return ValueType::I32;
  case 'I':
    return ValueType::I64;
  case 'f':
    return ValueType::F32;
  case 'F':
    return ValueType::F64;
  case 'r':
    return ValueType::Ref;
  default:
    return std::nullopt;
  }
}

} // namespace

char signatureLetter(ValueType type) {
  switch (type) {
  case ValueType::I64:
    return 'I';
  case ValueType::F32:
    return 'f';
  case ValueType::F64:
    return 'F';
  case ValueType::Ref:
    return 'r';
  default:
    return 'i';
  }
}

Result<Signature> Signature::parse(std::string_view text) {
  auto invalid = [&](std::string_view what) {
    return fail(StatusCode::InvalidArgument, "calling convention '", text, "': ", what);
  };
  if (text.empty() || text[0] != '0')
    return invalid("version is not 0");
  Signature signature;
  signature.text = text;
  std::string_view rest = text.substr(1);
  size_t separator = rest.find('_');
  std::string_view arguments = rest.substr(0, separator);
  std::string_view results =
      separator == std::string_view::npos ? std::string_view() : rest.substr(separator + 1);
  if (arguments == "v")
    arguments = {};
  if (results == "v")
    results = {};
  bool in_span = false;
  for (char letter : arguments) {
    if (letter == 'C' && !in_span) {
      in_span = true;
      signature.arguments.emplace_back();
    } else if (letter == 'D' && in_span) {
      in_span = false;
      if (signature.arguments.back().tuple.empty())
        return invalid("an empty span");
    } else if (auto type = typeOfLetter(letter)) {
      if (in_span)
        signature.arguments.back().tuple.push_back(*type);
      else
        signature.arguments.push_back({*type, {}});
    } else {
      return invalid(concat("unexpected '", letter, "'"));
    }
  }
  if (in_span)
    return invalid("a span without end");
  for (char letter : results) {
    auto type = typeOfLetter(letter);
    if (!type)
      return invalid(concat("unexpected '", letter, "'"));
    signature.results.push_back(*type);
  }
  return signature;
}

bool Signature::hasSpans() const {
  for (const Item& item : arguments)
    if (item.isSpan())
      return true;
  return false;
}

} // namespace bessemer::vm
