// The root of every object, and the pointer that owns one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "metal/objc/abi.h"

namespace objc {

// Declares, inside a C++ class derived from Object, the Objective-C class it implements.
// `objc_name` is a string literal. OBJC_DEFINE_CLASS (class.h) defines it.
#define OBJC_CLASS(cpp_class, objc_name)                                                           \
  using ObjcSelf = cpp_class;                                                                      \
  static constexpr const char* kObjcName = objc_name;                                              \
  [[gnu::visibility("default")]] static ::objc::Class class_object __asm__(                        \
      "._OBJC_CLASS_" objc_name)

// The start of every instance, also of those of client classes: NSObject's layout.
//
// A C++ class derived from it is an Objective-C class with that layout: single inheritance, no
// virtual functions; constructor and destructor do what init and dealloc would. Objects are made by
// make<T>() or, when T has a default constructor, by +alloc.
struct Object {
  OBJC_CLASS(Object, "NSObject");

  Class* isa;
  // Owners times kOneReference, plus a mark once a weak reference was made or another object was
  // associated.
  std::atomic<uint64_t> references;

  static constexpr uint64_t kOneReference = 4;
  static constexpr uint64_t kWeaklyReferenced = 1;
  static constexpr uint64_t kHasAssociated = 2;
  // Added when the last owner is gone, so that no retain and release pair of code that runs while
  // the object is destroyed brings the count to zero again.
  static constexpr uint64_t kDeallocating = uint64_t{1} << 62;

  Object() : references(kOneReference) {} // isa is set by who allocates
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
};
static_assert(std::is_standard_layout_v<Object> && sizeof(Object) == 16 &&
                  offsetof(Object, isa) == 0 && offsetof(Object, references) == 8,
              "clients' ivars and the message functions count on this layout");

// True for pointers that are not addresses: short string literals hold their text in the pointer.
inline bool is_tagged(const void* object) { return reinterpret_cast<uintptr_t>(object) & 7; }

extern "C" {
// All take null. The names are those that clang calls for ARC.
Object* objc_retain(Object* object);
void objc_release(Object* object);
Object* objc_autorelease(Object* object);
void* objc_autoreleasePoolPush();
void objc_autoreleasePoolPop(void* pool);
}

// Owns one reference. T is a C++ class derived from Object.
template <class T>
class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  // Retains.
  explicit Ref(T* object) : object_(object) { retain(); }
  Ref(const Ref& other) : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& other) : object_(other.get()) {
    retain();
  }
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U>&& other) : object_(other.take()) {}
  ~Ref() { objc_release(object()); }

  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  // Takes over a reference that the caller owns.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

  // Gives the reference to the caller; what `new...` and `copy...` methods return.
  [[nodiscard]] T* take() { return std::exchange(object_, nullptr); }
  // Gives the reference to the thread's autorelease pool; what other methods return.
  T* autorelease() {
    T* result = take();
    objc_autorelease(reinterpret_cast<Object*>(result));
    return result;
  }

  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }
  friend bool operator==(const Ref& a, const T* b) { return a.object_ == b; }

private:
  // A cast that a T known only by name allows; Object is every T's first base.
  Object* object() const { return reinterpret_cast<Object*>(object_); }
  void retain() const { objc_retain(object()); }

  T* object_ = nullptr;
};

// Retains and gives to the pool: what a getter returns of an object it goes on owning, when another
// thread may replace it.
template <class T>
T* retain_autorelease(T* object) {
  return Ref<T>(object).autorelease();
}

// Releases at the end of a scope what was autoreleased in it, by this thread.
class AutoreleaseScope {
public:
  AutoreleaseScope() : pool_(objc_autoreleasePoolPush()) {}
  ~AutoreleaseScope() { objc_autoreleasePoolPop(pool_); }
  AutoreleaseScope(const AutoreleaseScope&) = delete;
  AutoreleaseScope& operator=(const AutoreleaseScope&) = delete;

private:
  void* pool_;
};

} // namespace objc
