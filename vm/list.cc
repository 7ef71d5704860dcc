#include "vm/list.h"

#include <cmath>
#include <limits>

namespace bessemer::vm {

namespace {

// 24 bytes each: a bound that a wrong program hits before the machine does.
constexpr uint32_t kMaxSize = 1u << 26;

// Out of range is clamped: C++ leaves it undefined.
template <class Int>
Int toInteger(double value) {
  if (std::isnan(value))
    return 0;
  if (value <= static_cast<double>(std::numeric_limits<Int>::min()))
    return std::numeric_limits<Int>::min();
  if (value >= static_cast<double>(std::numeric_limits<Int>::max()))
    return std::numeric_limits<Int>::max();
  return static_cast<Int>(value);
}

bool isNumber(ValueType type) { return type != ValueType::None && type != ValueType::Ref; }

// `value` (I32, I64, F32 or F64) as a number of `type`.
Value convertNumber(const Value& value, ValueType type) {
  auto as = [&]<class T>(T) -> T {
    switch (value.type()) {
    case ValueType::F32:
    case ValueType::F64: {
      double number = value.type() == ValueType::F32 ? value.f32() : value.f64();
      if constexpr (std::is_integral_v<T>)
        return toInteger<T>(number);
      else
        return static_cast<T>(number);
    }
    case ValueType::I64:
      return static_cast<T>(value.i64());
    default:
      return static_cast<T>(value.i32());
    }
  };
  switch (type) {
  case ValueType::I8:
    return static_cast<int32_t>(static_cast<int8_t>(as(int32_t{})));
  case ValueType::I16:
    return static_cast<int32_t>(static_cast<int16_t>(as(int32_t{})));
  case ValueType::I64:
    return as(int64_t{});
  case ValueType::F32:
    return as(float{});
  case ValueType::F64:
    return as(double{});
  default:
    return as(int32_t{});
  }
}

} // namespace

const RefType& RefTraits<List>::type() {
  static constexpr RefType type = objectType<List>("vm.list");
  return type;
}

RefPtr<List> List::create(ElementType element_type, uint32_t capacity) {
  auto list = RefPtr<List>::adopt(new List(element_type));
  list->values_.reserve(std::min(capacity, kMaxSize));
  return list;
}

Value List::zero() const {
  switch (element_type_.type) {
  case ValueType::None:
    return Value();
  case ValueType::Ref:
    return Value(Ref());
  case ValueType::I64:
    return Value(int64_t{0});
  case ValueType::F32:
    return Value(0.0f);
  case ValueType::F64:
    return Value(0.0);
  default:
    return Value(int32_t{0});
  }
}

Result<void> List::reserve(uint32_t capacity) {
  if (capacity > kMaxSize)
    return fail(StatusCode::ResourceExhausted, "a list of ", capacity, " elements is too large");
  values_.reserve(capacity);
  return {};
}

Result<void> List::resize(uint32_t size) {
  if (size > kMaxSize)
    return fail(StatusCode::ResourceExhausted, "a list of ", size, " elements is too large");
  values_.resize(size, zero());
  return {};
}

Result<Value> List::get(uint32_t index) const {
  if (index >= size())
    return fail(StatusCode::OutOfRange, "index ", index, " is outside of a list of ", size(),
                " elements");
  return values_[index];
}

Result<Value> List::getAs(uint32_t index, ValueType type) const {
  auto value = get(index);
  if (!value)
    return value;
  if (value->type() == ValueType::None)
    return convertNumber(Value(int32_t{0}), type);
  if (value->isRef())
    return fail(StatusCode::InvalidArgument, "list element ", index, " is a reference, not a ",
                valueTypeName(type));
  return convertNumber(*value, type);
}

Result<Value> List::convert(Value value) const {
  if (element_type_.type == ValueType::None)
    return value;
  bool wants_reference = element_type_.type == ValueType::Ref;
  if (wants_reference != value.isRef())
    return fail(StatusCode::InvalidArgument, "a list of ", valueTypeName(element_type_.type),
                " cannot hold a ", valueTypeName(value.type()));
  if (isNumber(element_type_.type))
    return convertNumber(value, element_type_.type);
  RawRef raw = value.rawRef();
  if (raw.object && element_type_.ref_type && raw.type != element_type_.ref_type)
    return fail(StatusCode::InvalidArgument, "a list of ", element_type_.ref_type->name,
                " cannot hold a ", raw.type->name);
  return value;
}

Result<void> List::set(uint32_t index, Value value) {
  if (index >= size())
    return fail(StatusCode::OutOfRange, "index ", index, " is outside of a list of ", size(),
                " elements");
  auto converted = convert(std::move(value));
  if (!converted)
    return propagate(std::move(converted));
  // The old element is released last: its destruction may come back to this list.
  std::swap(values_[index], *converted);
  return {};
}

Result<void> List::push(Value value) {
  if (size() >= kMaxSize)
    return fail(StatusCode::ResourceExhausted, "the list is full");
  auto converted = convert(std::move(value));
  if (!converted)
    return propagate(std::move(converted));
  values_.push_back(*std::move(converted));
  return {};
}

} // namespace bessemer::vm
