// NSValue and NSNumber.
#pragma once

#include <string>
#include <variant>

#include "metal/foundation/string.h"

namespace ns {

/// Bytes of a C type.
class Value : public objc::Object {
public:
  OBJC_CLASS(Value, "NSValue");

  Value() = default;
  /// `type` is an Objective-C type encoding, which tells the size.
  Value(const void* bytes, const char* type);

  void initialize(const void* bytes, const char* type);
  const std::string& bytes() const { return bytes_; }
  const std::string& type() const { return type_; }

private:
  std::string bytes_;
  std::string type_;
};

/// A scalar; `type()` tells which.
class Number : public Value {
public:
  OBJC_CLASS(Number, "NSNumber");
  using Value::Value;

  /// The number converted as C does. Floating point out of the integer's range saturates.
  double as_double() const;
  int64_t as_int64() const;
  uint64_t as_uint64() const;
  bool as_bool() const { return as_double() != 0 || as_uint64() != 0; }
  bool is_floating() const;
  bool is_unsigned() const;
};

Ref<Number> number(bool value);
Ref<Number> number(int64_t value);
Ref<Number> number(uint64_t value);
Ref<Number> number(double value);

} // namespace ns
