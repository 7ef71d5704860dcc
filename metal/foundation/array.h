// NSArray and NSMutableArray.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "metal/foundation/types.h"

namespace ns {

class Array : public objc::Object {
public:
  OBJC_CLASS(Array, "NSArray");

  Array() = default;
  /// Retains the objects, none of them null.
  explicit Array(std::span<Object* const> objects);

  UInteger count() const { return items_.size(); }
  /// An index past the end ends the process with a message, as Foundation's exception would.
  Object* object_at(UInteger index) const;
  /// The object at `index` if it is a T, else null.
  template <class T>
  T* at(UInteger index) const {
    return objc::cast<T>(object_at(index));
  }
  UInteger index_of(Object* object) const;

  const std::vector<Ref<Object>>& items() const { return items_; }
  std::vector<Ref<Object>>& mutable_items() {
    ++mutations_;
    return items_;
  }
  UInteger enumerate(FastEnumerationState* state, Object** buffer, UInteger capacity);

private:
  std::vector<Ref<Object>> items_;
  unsigned long mutations_ = 0;
};

class MutableArray : public Array {
public:
  OBJC_CLASS(MutableArray, "NSMutableArray");
  using Array::Array;
  void add(Object* object);
};

/// A new array of the objects.
Ref<Array> array(std::span<Object* const> objects);
template <class T>
Ref<Array> array(const std::vector<Ref<T>>& objects) {
  std::vector<Object*> pointers;
  for (const Ref<T>& object : objects)
    pointers.push_back(object.get());
  return array(std::span<Object* const>(pointers));
}

} // namespace ns
