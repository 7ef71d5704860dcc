// Descriptors: objects that are values with a getter and a setter each, and can be copied.
//
//   struct HeapDescriptorValues { UInteger size = 0; };
//   class HeapDescriptor : public objc::Object, public HeapDescriptorValues { OBJC_CLASS(...); };
//   using Heap = Properties<HeapDescriptor, HeapDescriptorValues>;
//   objc::method<&Heap::get<&HeapDescriptor::size>>("size"),
//   objc::method<&Heap::set<&HeapDescriptor::size>>("setSize:"),
//   objc::method<&Heap::copy>("copyWithZone:"),
#pragma once

#include "metal/foundation/string.h"
#include "metal/objc/class.h"

namespace mtl {

/// T is the class, Values the plain struct among its bases that holds what is copied.
template <class T, class Values>
struct Properties {
  template <auto Member>
  static auto get(T* self) {
    if constexpr (requires { (self->*Member).get(); })
      return (self->*Member).get();
    else
      return self->*Member;
  }

  template <auto Member>
  using Argument = decltype(get<Member>(nullptr));

  /// Objects are retained, strings copied.
  template <auto Member>
  static void set(T* self, Argument<Member> value) {
    if constexpr (std::is_same_v<Argument<Member>, ns::String*>)
      self->*Member = ns::copy(value);
    else if constexpr (requires { (self->*Member).get(); })
      self->*Member = std::remove_cvref_t<decltype(self->*Member)>(value);
    else
      self->*Member = value;
  }

  static T* copy(T* self, void* /*zone*/) {
    objc::Ref<T> result = objc::make<T>();
    static_cast<Values&>(*result) = static_cast<const Values&>(*self);
    return result.take();
  }
};

} // namespace mtl
