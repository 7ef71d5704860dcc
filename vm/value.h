// A value as embedders, lists and native code see it: a number or a reference, with its type.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "vm/ref.h"

namespace bessemer::vm {

enum class ValueType : uint8_t { None, I8, I16, I32, I64, F32, F64, Ref };

// "i32", "ref", ...
std::string_view valueTypeName(ValueType type);

class Value {
public:
  Value() = default;
  Value(int32_t value) : bits_(static_cast<uint32_t>(value)), type_(ValueType::I32) {}
  Value(int64_t value) : bits_(static_cast<uint64_t>(value)), type_(ValueType::I64) {}
  Value(float value) : bits_(std::bit_cast<uint32_t>(value)), type_(ValueType::F32) {}
  Value(double value) : bits_(std::bit_cast<uint64_t>(value)), type_(ValueType::F64) {}
  Value(Ref ref) : type_(ValueType::Ref) {
    RawRef raw = ref.leak();
    bits_ = reinterpret_cast<uintptr_t>(raw.object);
    ref_type_ = raw.type;
  }
  template <class T>
  Value(RefPtr<T> pointer) : Value(Ref(std::move(pointer))) {}

  Value(const Value& other) : bits_(other.bits_), ref_type_(other.ref_type_), type_(other.type_) {
    if (RawRef raw = rawRef(); raw.object)
      raw.type->retain(raw.object);
  }
  Value(Value&& other) noexcept
      : bits_(other.bits_), ref_type_(std::exchange(other.ref_type_, nullptr)),
        type_(std::exchange(other.type_, ValueType::None)) {}
  Value& operator=(Value other) noexcept {
    std::swap(bits_, other.bits_);
    std::swap(ref_type_, other.ref_type_);
    std::swap(type_, other.type_);
    return *this;
  }
  ~Value() {
    if (RawRef raw = rawRef(); raw.object)
      raw.type->release(raw.object);
  }

  ValueType type() const { return type_; }
  bool isRef() const { return type_ == ValueType::Ref; }
  // The number as it is; the caller has looked at type().
  int32_t i32() const { return static_cast<int32_t>(bits_); }
  int64_t i64() const { return static_cast<int64_t>(bits_); }
  float f32() const { return std::bit_cast<float>(static_cast<uint32_t>(bits_)); }
  double f64() const { return std::bit_cast<double>(bits_); }
  Ref ref() const { return Ref::share(rawRef()); }
  // The object when this refers to a T, else null. Borrowed.
  template <class T>
  T* as() const {
    RawRef raw = rawRef();
    return raw.object && raw.type == &RefTraits<T>::type() ? static_cast<T*>(raw.object) : nullptr;
  }
  // The reference without a count of its own; null for numbers.
  RawRef rawRef() const {
    if (type_ != ValueType::Ref || bits_ == 0)
      return {};
    return {reinterpret_cast<void*>(static_cast<uintptr_t>(bits_)), ref_type_};
  }

private:
  uint64_t bits_ = 0;
  const RefType* ref_type_ = nullptr;
  ValueType type_ = ValueType::None;
};

} // namespace bessemer::vm
