// NSDictionary and NSMutableDictionary.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "metal/foundation/array.h"
#include "metal/foundation/types.h"

namespace ns {

class Dictionary : public objc::Object {
public:
  OBJC_CLASS(Dictionary, "NSDictionary");

  Dictionary() = default;
  Dictionary(std::span<Object* const> objects, std::span<Object* const> keys);

  UInteger count() const { return entries_.size(); }
  /// Null when there is none.
  Object* object_for(Object* key) const;
  template <class T>
  T* get(Object* key) const {
    return objc::cast<T>(object_for(key));
  }

  struct KeyHash {
    size_t operator()(const Ref<Object>& key) const { return hash_of(key.get()); }
  };
  struct KeyEqual {
    bool operator()(const Ref<Object>& a, const Ref<Object>& b) const {
      return is_equal(a.get(), b.get());
    }
  };
  using Entries = std::unordered_map<Ref<Object>, Ref<Object>, KeyHash, KeyEqual>;
  const Entries& entries() const { return entries_; }

  /// Copies the key, retains the object.
  void set(Object* object, Object* key);
  void remove(Object* key);
  void clear();
  UInteger enumerate_keys(FastEnumerationState* state, Object** buffer, UInteger capacity);

private:
  Entries entries_;
  unsigned long mutations_ = 0;
};

class MutableDictionary : public Dictionary {
public:
  OBJC_CLASS(MutableDictionary, "NSMutableDictionary");
  using Dictionary::Dictionary;
};

} // namespace ns
