// Associated objects: values that a program hangs on an object under a key.
#include <mutex>
#include <unordered_map>

#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

enum : uintptr_t { kRetain = 1, kCopy = 3, kAtomic = 01400 };

struct Value {
  Object* object;
  bool owned;
};
using Values = std::unordered_map<const void*, Value>;

std::mutex& mutex() {
  static auto& instance = *new std::mutex;
  return instance;
}
std::unordered_map<const Object*, Values>& table() {
  static auto& instance = *new std::unordered_map<const Object*, Values>;
  return instance;
}

} // namespace

void forget_associated(Object* object) {
  Values removed;
  {
    std::lock_guard lock(mutex());
    auto found = table().find(object);
    if (found == table().end())
      return;
    removed.swap(found->second);
    table().erase(found);
  }
  for (auto& [key, value] : removed)
    if (value.owned)
      objc_release(value.object);
}

extern "C" {

void objc_setAssociatedObject(Object* object, const void* key, Object* value, uintptr_t policy) {
  if (!object)
    return;
  bool owned = policy & kRetain;
  if (value && owned)
    value = (policy & kCopy) == kCopy ? send<Object*, "copy">(value) : objc_retain(value);
  Value old{};
  {
    std::lock_guard lock(mutex());
    Values& values = table()[object];
    auto& slot = values[key];
    old = slot;
    if (value)
      slot = {value, owned};
    else
      values.erase(key);
  }
  mark_associated(object);
  if (old.owned)
    objc_release(old.object);
}

Object* objc_getAssociatedObject(Object* object, const void* key) {
  Object* value = nullptr;
  {
    std::lock_guard lock(mutex());
    auto found = table().find(object);
    if (found == table().end())
      return nullptr;
    auto entry = found->second.find(key);
    if (entry == found->second.end())
      return nullptr;
    value = entry->second.owned ? objc_retain(entry->second.object) : entry->second.object;
    if (!entry->second.owned)
      return value;
  }
  return objc_autorelease(value);
}

void objc_removeAssociatedObjects(Object* object) { forget_associated(object); }
}

} // namespace objc
