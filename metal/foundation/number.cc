#include "metal/foundation/number.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "metal/foundation/method_signature.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace ns {

Value::Value(const void* bytes, const char* type) { initialize(bytes, type); }

void Value::initialize(const void* bytes, const char* type) {
  type_ = type ? type : "";
  size_t size = size_of_type(type_.c_str());
  bytes_.assign(static_cast<const char*>(bytes), bytes ? size : 0);
}

namespace {

/// Calls `visit` with the number as its own C type; 0 for an NSNumber that has no value yet.
template <class Visitor>
auto visit_number(const Number* number, Visitor visit) {
  auto read = [&]<class T>(T value) {
    std::memcpy(&value, number->bytes().data(), std::min(sizeof value, number->bytes().size()));
    return visit(value);
  };
  switch (number->type().empty() ? 0 : number->type()[0]) {
  case 'B':
    return read(bool());
  case 'c':
    return read(static_cast<signed char>(0));
  case 'C':
    return read(static_cast<unsigned char>(0));
  case 's':
    return read(short());
  case 'S':
    return read(static_cast<unsigned short>(0));
  case 'i':
    return read(int());
  case 'I':
    return read(unsigned());
  case 'l':
  case 'q':
    return read(int64_t());
  case 'L':
  case 'Q':
    return read(uint64_t());
  case 'f':
    return read(float());
  case 'd':
    return read(double());
  default:
    return visit(0);
  }
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value))
      return 0;
    // The comparison is in From: limits round away from zero there, so >= is exact.
    if (value >= static_cast<From>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    if (value <= static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
  }
  return static_cast<To>(value);
}

template <class T>
T value_as(const Number* number) {
  return visit_number(number, [](auto value) { return convert<T>(value); });
}

} // namespace

double Number::as_double() const { return value_as<double>(this); }
int64_t Number::as_int64() const { return value_as<int64_t>(this); }
uint64_t Number::as_uint64() const { return value_as<uint64_t>(this); }
bool Number::is_floating() const {
  return visit_number(this, [](auto value) { return std::is_floating_point_v<decltype(value)>; });
}
bool Number::is_unsigned() const {
  return visit_number(this, [](auto value) { return std::is_unsigned_v<decltype(value)>; });
}

namespace {

template <class T>
Ref<Number> number_of(T value) {
  static_assert(objc::encoding<T>.size() == 1);
  return objc::make<Number>(&value, objc::encoding<T>.data());
}

} // namespace

Ref<Number> number(bool value) { return number_of(value); }
Ref<Number> number(int64_t value) { return number_of(value); }
Ref<Number> number(uint64_t value) { return number_of(value); }
Ref<Number> number(double value) { return number_of(value); }

namespace {

// --- NSValue ----------------------------------------------------------------------------------

Value* make_value(objc::Class*, const void* bytes, const char* type) {
  return objc::make<Value>(bytes, type).autorelease();
}
Value* init_value(Value* self, const void* bytes, const char* type) {
  self->initialize(bytes, type);
  return self;
}
Value* make_pointer(objc::Class*, const void* pointer) {
  return objc::make<Value>(&pointer, "^v").autorelease();
}
Value* make_range(objc::Class*, Range range) {
  return objc::make<Value>(&range, "{_NSRange=QQ}").autorelease();
}
Range range_value(Value* self) {
  Range range{};
  std::memcpy(&range, self->bytes().data(), std::min(sizeof range, self->bytes().size()));
  return range;
}
void* pointer_value(Value* self) {
  void* pointer = nullptr;
  std::memcpy(&pointer, self->bytes().data(), std::min(sizeof pointer, self->bytes().size()));
  return pointer;
}
void get_value(Value* self, void* buffer) {
  std::memcpy(buffer, self->bytes().data(), self->bytes().size());
}
void get_value_of_size(Value* self, void* buffer, UInteger size) {
  if (size != self->bytes().size())
    objc::fatal("-[NSValue getValue:size:]: size %lu, but the value has %zu bytes", size,
                self->bytes().size());
  get_value(self, buffer);
}
const char* objc_type(Value* self) { return self->type().c_str(); }
bool is_equal_to_value(Value* self, Value* other) {
  return other && self->type() == other->type() && self->bytes() == other->bytes();
}
bool value_is_equal(Value* self, Object* other) {
  return is_equal_to_value(self, objc::cast<Value>(other));
}
UInteger value_hash(Value* self) { return std::hash<std::string>()(self->bytes()); }
Value* value_copy(Value* self, void*) { return Ref<Value>(self).take(); }
String* value_description(Value* self) {
  std::string text = "{length = " + std::to_string(self->bytes().size()) + ", bytes = 0x";
  for (unsigned char byte : self->bytes()) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return autoreleased_string(text + "}");
}

// --- NSNumber ---------------------------------------------------------------------------------

template <class T>
constexpr const char* kTypeOf = objc::encoding<T>.data();

template <class T>
Number* make_number(objc::Class*, T value) {
  return objc::make<Number>(&value, kTypeOf<T>).autorelease();
}
template <class T>
Number* init_number(Number* self, T value) {
  self->initialize(&value, kTypeOf<T>);
  return self;
}
template <class T>
T number_value(Number* self) {
  return value_as<T>(self);
}
bool bool_value(Number* self) { return self->as_bool(); }

Integer compare(Number* self, Number* other) {
  if (!other)
    return 1;
  if (!self->is_floating() && !other->is_floating()) {
    // 65-bit comparison: the sign first.
    bool a_negative = !self->is_unsigned() && self->as_int64() < 0;
    bool b_negative = !other->is_unsigned() && other->as_int64() < 0;
    if (a_negative != b_negative)
      return a_negative ? -1 : 1;
    if (a_negative) {
      int64_t a = self->as_int64(), b = other->as_int64();
      return a < b ? -1 : a > b;
    }
    uint64_t a = self->as_uint64(), b = other->as_uint64();
    return a < b ? -1 : a > b;
  }
  double a = self->as_double(), b = other->as_double();
  return a < b ? -1 : a > b;
}
bool is_equal_to_number(Number* self, Number* other) { return other && compare(self, other) == 0; }
bool number_is_equal(Number* self, Object* other) {
  return is_equal_to_number(self, objc::cast<Number>(other));
}
UInteger number_hash(Number* self) { return std::hash<double>()(self->as_double()); }

String* string_value(Number* self) {
  std::string text = visit_number(self, [](auto value) -> std::string {
    using T = decltype(value);
    if constexpr (std::is_floating_point_v<T>) {
      char digits[40];
      std::snprintf(digits, sizeof digits, std::is_same_v<T, float> ? "%.7g" : "%.16g",
                    static_cast<double>(value));
      return digits;
    } else {
      return std::to_string(value);
    }
  });
  return autoreleased_string(text);
}
String* description_with_locale(Number* self, Object*) { return string_value(self); }

} // namespace

OBJC_DEFINE_CLASS(Value, "NSValue", objc::Object,
                  .methods =
                      {
                          objc::method<&init_value>("initWithBytes:objCType:"),
                          objc::method<&objc_type>("objCType"),
                          objc::method<&get_value>("getValue:"),
                          objc::method<&get_value_of_size>("getValue:size:"),
                          objc::method<&pointer_value>("pointerValue"),
                          objc::method<&pointer_value>("nonretainedObjectValue"),
                          objc::method<&range_value>("rangeValue"),
                          objc::method<&is_equal_to_value>("isEqualToValue:"),
                          objc::method<&value_is_equal>("isEqual:"),
                          objc::method<&value_hash>("hash"),
                          objc::method<&value_description>("description"),
                          objc::method<&value_copy>("copyWithZone:"),
                      },
                  .class_methods =
                      {
                          objc::method<&make_value>("valueWithBytes:objCType:"),
                          objc::method<&make_value>("value:withObjCType:"),
                          objc::method<&make_pointer>("valueWithPointer:"),
                          objc::method<&make_pointer>("valueWithNonretainedObject:"),
                          objc::method<&make_range>("valueWithRange:"),
                      },
                  .protocols = {"NSCopying", "NSSecureCoding"});

OBJC_DEFINE_CLASS(
    Number, "NSNumber", Value,
    .methods =
        {
            objc::method<&init_number<bool>>("initWithBool:"),
            objc::method<&init_number<char>>("initWithChar:"),
            objc::method<&init_number<unsigned char>>("initWithUnsignedChar:"),
            objc::method<&init_number<short>>("initWithShort:"),
            objc::method<&init_number<unsigned short>>("initWithUnsignedShort:"),
            objc::method<&init_number<int>>("initWithInt:"),
            objc::method<&init_number<unsigned>>("initWithUnsignedInt:"),
            objc::method<&init_number<long>>("initWithLong:"),
            objc::method<&init_number<unsigned long>>("initWithUnsignedLong:"),
            objc::method<&init_number<long long>>("initWithLongLong:"),
            objc::method<&init_number<unsigned long long>>("initWithUnsignedLongLong:"),
            objc::method<&init_number<long>>("initWithInteger:"),
            objc::method<&init_number<unsigned long>>("initWithUnsignedInteger:"),
            objc::method<&init_number<float>>("initWithFloat:"),
            objc::method<&init_number<double>>("initWithDouble:"),
            objc::method<&bool_value>("boolValue"),
            objc::method<&number_value<signed char>>("charValue"),
            objc::method<&number_value<unsigned char>>("unsignedCharValue"),
            objc::method<&number_value<short>>("shortValue"),
            objc::method<&number_value<unsigned short>>("unsignedShortValue"),
            objc::method<&number_value<int>>("intValue"),
            objc::method<&number_value<unsigned>>("unsignedIntValue"),
            objc::method<&number_value<long>>("longValue"),
            objc::method<&number_value<unsigned long>>("unsignedLongValue"),
            objc::method<&number_value<long long>>("longLongValue"),
            objc::method<&number_value<unsigned long long>>("unsignedLongLongValue"),
            objc::method<&number_value<long>>("integerValue"),
            objc::method<&number_value<unsigned long>>("unsignedIntegerValue"),
            objc::method<&number_value<float>>("floatValue"),
            objc::method<&number_value<double>>("doubleValue"),
            objc::method<&compare>("compare:"),
            objc::method<&is_equal_to_number>("isEqualToNumber:"),
            objc::method<&number_is_equal>("isEqual:"),
            objc::method<&number_hash>("hash"),
            objc::method<&string_value>("stringValue"),
            objc::method<&string_value>("description"),
            objc::method<&description_with_locale>("descriptionWithLocale:"),
        },
    .class_methods = {
        objc::method<&make_number<bool>>("numberWithBool:"),
        objc::method<&make_number<char>>("numberWithChar:"),
        objc::method<&make_number<unsigned char>>("numberWithUnsignedChar:"),
        objc::method<&make_number<short>>("numberWithShort:"),
        objc::method<&make_number<unsigned short>>("numberWithUnsignedShort:"),
        objc::method<&make_number<int>>("numberWithInt:"),
        objc::method<&make_number<unsigned>>("numberWithUnsignedInt:"),
        objc::method<&make_number<long>>("numberWithLong:"),
        objc::method<&make_number<unsigned long>>("numberWithUnsignedLong:"),
        objc::method<&make_number<long long>>("numberWithLongLong:"),
        objc::method<&make_number<unsigned long long>>("numberWithUnsignedLongLong:"),
        objc::method<&make_number<long>>("numberWithInteger:"),
        objc::method<&make_number<unsigned long>>("numberWithUnsignedInteger:"),
        objc::method<&make_number<float>>("numberWithFloat:"),
        objc::method<&make_number<double>>("numberWithDouble:"),
    });

} // namespace ns
