// !vm.list<T>: a growable sequence of values of one type, or of any (!vm.list<?>).
#pragma once

#include <cstdint>
#include <vector>

#include "vm/ref.h"
#include "vm/status.h"
#include "vm/value.h"

namespace bessemer::vm {

// What a list holds: a number type, references of one kind, or anything.
struct ElementType {
  ValueType type = ValueType::None;  // None: any value
  const RefType* ref_type = nullptr; // with type Ref: only these; null: any reference
};

class List final : public Object {
public:
  static RefPtr<List> create(ElementType element_type, uint32_t capacity = 0);

  ElementType elementType() const { return element_type_; }
  uint32_t size() const { return static_cast<uint32_t>(values_.size()); }
  Result<void> reserve(uint32_t capacity);
  // New elements are zero or null.
  Result<void> resize(uint32_t size);
  // OUT_OF_RANGE past the end.
  Result<Value> get(uint32_t index) const;
  // The element as a number of `type` (I32, I64, F32, F64), converted as C converts.
  Result<Value> getAs(uint32_t index, ValueType type) const;
  // Converts numbers to the element type; INVALID_ARGUMENT when a number meets references or a
  // reference has another type.
  Result<void> set(uint32_t index, Value value);
  Result<void> push(Value value);

private:
  List(ElementType element_type) : element_type_(element_type) {}
  Value zero() const;
  Result<Value> convert(Value value) const;

  ElementType element_type_;
  std::vector<Value> values_;
};

template <>
struct RefTraits<List> {
  static const RefType& type();
};

} // namespace bessemer::vm
