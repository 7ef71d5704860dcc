// References to objects that programs handle but cannot look into: VM buffers and lists, HAL
// objects. A reference is an object and its type descriptor; descriptors are compared by address.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace bessemer::vm {

// Describes one kind of reference-counted object. `name` is the type's name in modules without the
// leading '!': "hal.buffer", "vm.list".
struct RefType {
  std::string_view name;
  void (*retain)(void* object);
  void (*release)(void* object);
};

// Specialised for each object type that can be referenced:
//   template <> struct RefTraits<T> { static const RefType& type(); };
template <class T>
struct RefTraits;

// Base of the VM's own objects.
class Object {
public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

protected:
  Object() = default;
  virtual ~Object() = default;

private:
  std::atomic<int32_t> count_{1};
};

// A reference as plain bits: what registers and argument slots hold. Owns nothing by itself.
struct RawRef {
  void* object = nullptr;
  const RefType* type = nullptr;
};

// An owned reference to one object type; may be null.
template <class T>
class RefPtr {
public:
  RefPtr() = default;
  RefPtr(std::nullptr_t) {}
  RefPtr(const RefPtr& other) : RefPtr(share(other.object_)) {}
  RefPtr(RefPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  RefPtr& operator=(RefPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~RefPtr() { reset(); }

  // Takes over the caller's reference.
  static RefPtr adopt(T* object) {
    RefPtr result;
    result.object_ = object;
    return result;
  }
  // Adds a reference of its own.
  static RefPtr share(T* object) {
    if (object)
      RefTraits<T>::type().retain(object);
    return adopt(object);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the reference up to the caller.
  [[nodiscard]] T* leak() { return std::exchange(object_, nullptr); }
  void reset() {
    if (T* object = std::exchange(object_, nullptr))
      RefTraits<T>::type().release(object);
  }
  // Where a C function with an out-parameter puts a new reference.
  T** put() {
    reset();
    return &object_;
  }

private:
  T* object_ = nullptr;
};

// An owned reference of any type; may be null.
class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  template <class T>
  Ref(RefPtr<T> pointer) {
    if (pointer)
      raw_ = {pointer.leak(), &RefTraits<T>::type()};
  }
  Ref(const Ref& other) : Ref(share(other.raw_)) {}
  Ref(Ref&& other) noexcept : raw_(std::exchange(other.raw_, {})) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Ref() { reset(); }

  static Ref adopt(RawRef raw) {
    Ref result;
    result.raw_ = raw;
    return result;
  }
  static Ref share(RawRef raw) {
    if (raw.object)
      raw.type->retain(raw.object);
    return adopt(raw);
  }

  // The object when it is a T, else null.
  template <class T>
  T* as() const {
    return raw_.object && raw_.type == &RefTraits<T>::type() ? static_cast<T*>(raw_.object)
                                                             : nullptr;
  }
  RawRef raw() const { return raw_; }
  [[nodiscard]] RawRef leak() { return std::exchange(raw_, {}); }
  void reset() {
    if (RawRef raw = std::exchange(raw_, {}); raw.object)
      raw.type->release(raw.object);
  }
  explicit operator bool() const { return raw_.object != nullptr; }
  // Name of the type, or "null".
  std::string_view typeName() const {
    return raw_.object ? raw_.type->name : std::string_view("null");
  }
  friend bool operator==(const Ref& a, const Ref& b) { return a.raw_.object == b.raw_.object; }

private:
  RawRef raw_;
};

// A descriptor for a class derived from Object.
template <class T>
constexpr RefType objectType(std::string_view name) {
  return {name, [](void* object) { static_cast<T*>(object)->retain(); },
          [](void* object) { static_cast<T*>(object)->release(); }};
}

} // namespace bessemer::vm
