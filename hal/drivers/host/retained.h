#pragma once

#include <utility>

#include "iree/hal/resource.h"

namespace bessemer::hal::host {

/// A counted reference to a HAL object.
template <typename T>
class Retained {
public:
  Retained() = default;
  explicit Retained(T* object) : object_(object) { iree_hal_resource_retain(object_); }
  Retained(const Retained& other) : Retained(other.object_) {}
  Retained(Retained&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Retained& operator=(Retained other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Retained() { iree_hal_resource_release(object_); }

  /// Takes over a reference that the caller holds.
  static Retained adopt(T* object) {
    Retained result;
    result.object_ = object;
    return result;
  }

  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

private:
  T* object_ = nullptr;
};

} // namespace bessemer::hal::host
