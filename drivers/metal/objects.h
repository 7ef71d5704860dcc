// Owners of Metal and HAL objects, and Metal's errors as statuses.
#pragma once

#include <Metal/Metal.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "iree/base/api.h"
#include "iree/hal/api.h"

namespace bessemer::metal_driver {

/// An owner of a Metal object. TakeMetal takes what a `new...` method returned, RetainMetal adds a
/// reference. Unlike metal-cpp's own it sends no messages to null, which compilers of C++ take for
/// code that is never reached.
template <class T>
class MetalPtr {
public:
  MetalPtr() = default;
  MetalPtr(const MetalPtr& other) : object_(other.object_) {
    if (object_)
      object_->retain();
  }
  MetalPtr(MetalPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  MetalPtr& operator=(MetalPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~MetalPtr() {
    if (object_)
      object_->release();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_; }

private:
  template <class U>
  friend MetalPtr<U> TakeMetal(U* object);

  T* object_ = nullptr;
};

template <class T>
MetalPtr<T> TakeMetal(T* object) {
  MetalPtr<T> result;
  result.object_ = object;
  return result;
}

template <class T>
MetalPtr<T> RetainMetal(T* object) {
  if (object)
    object->retain();
  return TakeMetal(object);
}

/// An owner of a HAL object: anything that begins with iree_hal_resource_t.
template <class T>
class HalPtr {
public:
  HalPtr() = default;
  HalPtr(HalPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  HalPtr(const HalPtr& other) : HalPtr(Retain(other.object_)) {}
  HalPtr& operator=(HalPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~HalPtr() { iree_hal_resource_release(object_); }

  /// A second reference, and the caller's own.
  static HalPtr Retain(T* object) {
    iree_hal_resource_retain(object);
    return HalPtr(object);
  }
  static HalPtr Take(T* object) { return HalPtr(object); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_; }
  T* release() { return std::exchange(object_, nullptr); }

private:
  explicit HalPtr(T* object) : object_(object) {}

  T* object_ = nullptr;
};

/// Metal's methods return autoreleased objects; threads of ours have no pool of their own.
class AutoreleaseScope {
public:
  AutoreleaseScope() : pool_(NS::AutoreleasePool::alloc()->init()) {}
  ~AutoreleaseScope() { pool_->release(); }
  AutoreleaseScope(const AutoreleaseScope&) = delete;
  AutoreleaseScope& operator=(const AutoreleaseScope&) = delete;

private:
  NS::AutoreleasePool* pool_;
};

/// An autoreleased string.
inline NS::String* ToNSString(std::string_view text) {
  return NS::String::string(std::string(text).c_str(), NS::UTF8StringEncoding);
}
inline NS::String* ToNSString(iree_string_view_t text) {
  return ToNSString(std::string_view(text.data, text.size));
}

/// "what: Metal's text".
iree_status_t StatusFromError(iree_status_code_t code, const char* what, const NS::Error* error);

inline std::string_view ToStd(iree_string_view_t text) {
  return text.size ? std::string_view(text.data, text.size) : std::string_view();
}
inline iree_string_view_t ToIree(std::string_view text) {
  return iree_make_string_view(text.data(), text.size());
}

} // namespace bessemer::metal_driver
