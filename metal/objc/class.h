// How a C++ class becomes an Objective-C class:
//
//   class Event : public objc::Object {                    // event.h
//   public:
//     OBJC_CLASS(Event, "BSMEvent");
//     explicit Event(Device* device);
//     ns::String* label() const;
//     void set_label(ns::String* label);
//   };
//
//   OBJC_DEFINE_CLASS(Event, "BSMEvent", objc::Object,     // event.cc, in Event's own namespace
//                     .methods = {
//                         objc::method<&Event::label>("label"),
//                         objc::method<&Event::set_label>("setLabel:"),
//                     },
//                     .protocols = {"MTLEvent"});
//
//   objc::Ref<Event> event = objc::make<Event>(device);
//
// A method is a member function, or a function whose first parameter is the receiver: T* self, or
// for a class method Class* self. Everything is constant data, linked before any static initialiser
// of a client runs; nothing here runs at start-up but one pass over it.
#pragma once

#include <initializer_list>
#include <memory>
#include <new>
#include <string_view>

#include "metal/objc/encoding.h"
#include "metal/objc/object.h"

namespace objc {

struct MethodDefinition {
  const char* selector;
  const char* types;
  Imp (*imp)(); // gives the code: a cast to Imp is no constant expression
};

namespace detail {

template <auto Function, class = decltype(Function)>
struct MethodOf;

template <auto Function, class C, class R, class... Arguments>
struct MethodOf<Function, R (C::*)(Arguments...)> {
  static R call(C* self, Selector*, Arguments... arguments) {
    return (self->*Function)(arguments...);
  }
  static constexpr const char* types = method_encoding<R, Arguments...>.data();
};

template <auto Function, class C, class R, class... Arguments>
struct MethodOf<Function, R (C::*)(Arguments...) const> {
  static R call(C* self, Selector*, Arguments... arguments) {
    return (self->*Function)(arguments...);
  }
  static constexpr const char* types = method_encoding<R, Arguments...>.data();
};

template <auto Function, class C, class R, class... Arguments>
struct MethodOf<Function, R (*)(C*, Arguments...)> {
  static R call(C* self, Selector*, Arguments... arguments) { return Function(self, arguments...); }
  static constexpr const char* types = method_encoding<R, Arguments...>.data();
};

template <auto Function>
Imp imp_of() {
  return reinterpret_cast<Imp>(&MethodOf<Function>::call);
}

} // namespace detail

// A table entry: `Function` answers `selector`. Colons in the selector must be as many as
// arguments.
template <auto Function>
constexpr MethodDefinition method(const char* selector) {
  return {selector, detail::MethodOf<Function>::types, &detail::imp_of<Function>};
}

// The same with the code given directly, for methods that need _cmd or take a variable number of
// arguments.
template <auto Function>
constexpr MethodDefinition raw_method(const char* selector, const char* types) {
  return {selector, types, [] { return reinterpret_cast<Imp>(Function); }};
}

// What the runtime must know to make and destroy the C++ part of an object.
struct NativeClass {
  size_t size;
  void (*construct)(void* memory); // null: +alloc is refused
  void (*destroy)(Object* object);
};

template <class T>
inline constexpr NativeClass native_class = {
    sizeof(T),
    [] {
      if constexpr (std::is_default_constructible_v<T>)
        return +[](void* memory) { new (memory) T(); };
      else
        return static_cast<void (*)(void*)>(nullptr);
    }(),
    [](Object* object) { static_cast<T*>(object)->~T(); },
};

template <class T>
inline constexpr NativeClass foreign_class = {sizeof(T), nullptr, [](Object*) {}};

// The parts of a class that OBJC_DEFINE_CLASS takes by name.
struct ClassMembers {
  std::initializer_list<MethodDefinition> methods = {};
  std::initializer_list<MethodDefinition> class_methods = {};
  std::initializer_list<const char*> protocols = {};
  unsigned long info = 0; // bits of Class::info that the class and those below it have
};

struct ClassDefinition {
  Class* class_object;
  Class* metaclass;
  const char* name;
  Class* superclass; // null: a root
  const NativeClass* native;
  const ClassMembers& members;
};

// Defines class T, declared by OBJC_CLASS with the same name, in T's own namespace.
#define OBJC_DEFINE_CLASS(cpp_class, objc_name, superclass, ...)                                   \
  OBJC_DEFINE_CLASS_WITH(cpp_class, objc_name, &superclass::class_object, __VA_ARGS__)

#define OBJC_DEFINE_CLASS_WITH(cpp_class, objc_name, superclass_object, ...)                       \
  static_assert(std::is_base_of_v<::objc::Object, cpp_class> &&                                    \
                    !std::is_polymorphic_v<cpp_class> &&                                           \
                    std::is_same_v<cpp_class::ObjcSelf, cpp_class>,                                \
                "an Objective-C class begins with isa and has its own OBJC_CLASS");                \
  OBJC_DEFINE_CLASS_STORAGE(cpp_class, objc_name, superclass_object,                               \
                            ::objc::native_class<cpp_class>, __VA_ARGS__)

// The same for a class whose instances are not objc::Objects: made by the compiler, never freed.
#define OBJC_DEFINE_FOREIGN_CLASS(cpp_class, objc_name, superclass, ...)                           \
  OBJC_DEFINE_CLASS_STORAGE(cpp_class, objc_name, &superclass::class_object,                       \
                            ::objc::foreign_class<cpp_class>, __VA_ARGS__)

// No red zones between the entries: the section is read as one array.
#define OBJC_DEFINE_CLASS_STORAGE(cpp_class, objc_name, superclass_object, native, ...)            \
  static_assert(std::string_view(objc_name) == cpp_class::kObjcName);                              \
  constinit ::objc::Class cpp_class::class_object{};                                               \
  static constinit ::objc::Class cpp_class##_metaclass{};                                          \
  [[gnu::visibility("default")]] extern ::objc::Class* const cpp_class##_reference __asm__(        \
      "._OBJC_REF_CLASS_" objc_name);                                                              \
  [[gnu::used]] constinit ::objc::Class* const cpp_class##_reference = &cpp_class::class_object;   \
  static constexpr ::objc::ClassMembers cpp_class##_members = {__VA_ARGS__};                       \
  static constexpr ::objc::ClassDefinition cpp_class##_definition = {                              \
      &cpp_class::class_object, &cpp_class##_metaclass, objc_name, superclass_object, &native,     \
      cpp_class##_members};                                                                        \
  [[gnu::section("objc_native_classes"), gnu::used, gnu::retain,                                   \
    clang::no_sanitize(                                                                            \
        "address")]] static constexpr const ::objc::ClassDefinition* cpp_class##_entry =           \
      &cpp_class##_definition

// Storage for an instance of `cls`, zeroed, isa set; the C++ part is not constructed.
void* allocate_instance(Class* cls);

// Makes a T, with one reference that the result owns.
template <class T, class... Arguments>
Ref<T> make(Arguments&&... arguments) {
  static_assert(std::is_same_v<typename T::ObjcSelf, T>, "T has no OBJC_CLASS of its own");
  static_assert(alignof(T) <= alignof(std::max_align_t));
  void* memory = allocate_instance(&T::class_object);
  // isa is there before, so that a constructor may retain the object, and set again after, since
  // a constructor formally leaves it undefined.
  T* object = new (memory) T(std::forward<Arguments>(arguments)...);
  object->isa = &T::class_object;
  return Ref<T>::adopt(object);
}

// The class of any object, tagged ones too; null for null.
Class* class_of(const Object* object);
bool is_subclass(const Class* cls, const Class* ancestor);

// `object` as a T when it is one or of a class derived from T, else null.
template <class T>
T* cast(Object* object) {
  return object && is_subclass(class_of(object), &T::class_object) ? static_cast<T*>(object)
                                                                   : nullptr;
}

} // namespace objc
