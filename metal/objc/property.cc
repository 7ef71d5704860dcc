// What clang calls for properties that it synthesises.
#include <cstring>
#include <mutex>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

// Atomic properties: one lock of several, chosen by the variable's address.
std::mutex& lock_of(const void* address) {
  static std::mutex* const locks = new std::mutex[64];
  return locks[(reinterpret_cast<uintptr_t>(address) >> 3) % 64];
}

Object** slot(Object* self, ptrdiff_t offset) {
  return reinterpret_cast<Object**>(reinterpret_cast<char*>(self) + offset);
}

// Takes over the reference that `value` carries.
void exchange(Object* self, ptrdiff_t offset, Object* value, bool atomic) {
  Object** location = slot(self, offset);
  Object* old;
  if (atomic) {
    std::lock_guard lock(lock_of(location));
    old = std::exchange(*location, value);
  } else {
    old = std::exchange(*location, value);
  }
  objc_release(old);
}

Object* copy_of(Object* value) { return send<Object*, "copy">(value); }

} // namespace

extern "C" {

Object* objc_getProperty(Object* self, Selector*, ptrdiff_t offset, bool atomic) {
  if (!self)
    return nullptr;
  Object** location = slot(self, offset);
  if (!atomic)
    return *location;
  Object* value;
  {
    std::lock_guard lock(lock_of(location));
    value = objc_retain(*location);
  }
  return objc_autorelease(value);
}

void objc_setProperty(Object* self, Selector*, ptrdiff_t offset, Object* value, bool atomic,
                      bool copy) {
  exchange(self, offset, copy ? copy_of(value) : objc_retain(value), atomic);
}
void objc_setProperty_atomic(Object* self, Selector*, Object* value, ptrdiff_t offset) {
  exchange(self, offset, objc_retain(value), true);
}
void objc_setProperty_nonatomic(Object* self, Selector*, Object* value, ptrdiff_t offset) {
  exchange(self, offset, objc_retain(value), false);
}
void objc_setProperty_atomic_copy(Object* self, Selector*, Object* value, ptrdiff_t offset) {
  exchange(self, offset, copy_of(value), true);
}
void objc_setProperty_nonatomic_copy(Object* self, Selector*, Object* value, ptrdiff_t offset) {
  exchange(self, offset, copy_of(value), false);
}

// The property's address is the second argument of the getter, the first of the setter; the other
// is on a stack.
void objc_getPropertyStruct(void* to, const void* from, ptrdiff_t size, bool atomic, bool) {
  if (!atomic) {
    std::memcpy(to, from, static_cast<size_t>(size));
    return;
  }
  std::lock_guard lock(lock_of(from));
  std::memcpy(to, from, static_cast<size_t>(size));
}
void objc_setPropertyStruct(void* to, const void* from, ptrdiff_t size, bool atomic, bool) {
  if (!atomic) {
    std::memcpy(to, from, static_cast<size_t>(size));
    return;
  }
  std::lock_guard lock(lock_of(to));
  std::memcpy(to, from, static_cast<size_t>(size));
}

void objc_getCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*)) {
  std::lock_guard lock(lock_of(from));
  copy(to, from);
}
void objc_setCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*)) {
  std::lock_guard lock(lock_of(to));
  copy(to, from);
}

void objc_enumerationMutation(Object* collection) {
  fatal("objc: a %s was changed while it was enumerated", class_of(collection)->name);
}
}

} // namespace objc
