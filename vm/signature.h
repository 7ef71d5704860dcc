// Calling conventions: "0rIi_r" is arguments (ref, i64, i32), result ref. C...D encloses a variadic
// span of tuples and occurs only in arguments of imports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vm/status.h"
#include "vm/value.h"

namespace bessemer::vm {

struct Signature {
  struct Item {
    ValueType type = ValueType::None; // None: a span of tuples
    std::vector<ValueType> tuple;     // of a span
    bool isSpan() const { return type == ValueType::None; }
  };

  // Accepts version 0 texts; "0", "0v" and "0v_v" all mean nothing in and nothing out.
  static Result<Signature> parse(std::string_view text);

  std::string text;
  std::vector<Item> arguments;
  std::vector<ValueType> results;
  bool hasSpans() const;
};

// The letter of the calling convention: i I f F r.
char signatureLetter(ValueType type);

} // namespace bessemer::vm
