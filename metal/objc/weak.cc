// Weak references: a table from objects to the variables that hold them weakly, in shards.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

struct Shard {
  std::mutex mutex;
  std::unordered_map<void*, std::vector<Object**>> locations;
};
constexpr size_t kShards = 64;

Shard& shard_of(const void* object) {
  static Shard* const shards = new Shard[kShards];
  return shards[(reinterpret_cast<uintptr_t>(object) >> 4) % kShards];
}

// Objects that never die need no table, nor do those whose layout has no place for the mark,
// but blocks do (they ask the table each time one dies).
enum class Lifetime { kForever, kObject, kBlock };

Lifetime lifetime_of(Object* object) {
  if (!object || is_tagged(object))
    return Lifetime::kForever;
  unsigned long info = class_info(object->isa);
  if (info & kClassIsBlock)
    return Lifetime::kBlock;
  return info & (kClassForeignLayout | kClassIsMeta) ? Lifetime::kForever : Lifetime::kObject;
}

bool retain_for_load(Object* object) {
  switch (lifetime_of(object)) {
  case Lifetime::kForever:
    return true;
  case Lifetime::kBlock:
    return retain_block_if_alive(object);
  case Lifetime::kObject:
    if (class_info(object->isa) & kClassPlainReferences)
      return retain_if_alive(object);
    return send<Object*, "retain">(object) != nullptr;
  }
  return false;
}

// Records that `location` points weakly to `object`; false when the object is being destroyed.
// The shard is locked.
bool add(Shard& shard, Object* object, Object** location) {
  switch (lifetime_of(object)) {
  case Lifetime::kForever:
    return true;
  case Lifetime::kObject: {
    // Mark first: a release that comes to zero after this sees the mark and waits for the shard.
    uint64_t before =
        object->references.fetch_or(Object::kWeaklyReferenced, std::memory_order_acq_rel);
    if (before < Object::kOneReference || before >= Object::kDeallocating)
      return false;
    break;
  }
  case Lifetime::kBlock:
    break;
  }
  shard.locations[object].push_back(location);
  return true;
}

void remove(Shard& shard, Object* object, Object** location) {
  auto entry = shard.locations.find(object);
  if (entry == shard.locations.end())
    return;
  std::erase(entry->second, location);
  if (entry->second.empty())
    shard.locations.erase(entry);
}

Object* load(Object** location) {
  return std::atomic_ref(*location).load(std::memory_order_acquire);
}

void store(Object** location, Object* object) {
  std::atomic_ref(*location).store(object, std::memory_order_release);
}

// Locks the shard of what `location` holds, which another thread may clear meanwhile.
Object* lock_target(Object** location, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    Object* object = load(location);
    if (!object || is_tagged(object))
      return object;
    lock = std::unique_lock(shard_of(object).mutex);
    if (load(location) == object)
      return object;
    lock.unlock();
  }
}

} // namespace

void clear_weak_references(void* object) {
  Shard& shard = shard_of(object);
  std::lock_guard lock(shard.mutex);
  auto entry = shard.locations.find(object);
  if (entry == shard.locations.end())
    return;
  for (Object** location : entry->second)
    store(location, nullptr);
  shard.locations.erase(entry);
}

extern "C" {

void objc_destroyWeak(Object** location) {
  std::unique_lock<std::mutex> lock;
  if (Object* object = lock_target(location, lock); object && lock.owns_lock())
    remove(shard_of(object), object, location);
  store(location, nullptr);
}

Object* objc_initWeak(Object** location, Object* object) {
  if (!object || is_tagged(object)) {
    store(location, object);
    return object;
  }
  std::lock_guard lock(shard_of(object).mutex);
  if (!add(shard_of(object), object, location))
    object = nullptr;
  store(location, object);
  return object;
}

Object* objc_storeWeak(Object** location, Object* object) {
  objc_destroyWeak(location);
  return objc_initWeak(location, object);
}

Object* objc_loadWeakRetained(Object** location) {
  std::unique_lock<std::mutex> lock;
  Object* object = lock_target(location, lock);
  return object && retain_for_load(object) ? object : nullptr;
}

Object* objc_loadWeak(Object** location) {
  return objc_autorelease(objc_loadWeakRetained(location));
}

void objc_copyWeak(Object** to, Object** from) {
  Object* object = objc_loadWeakRetained(from);
  objc_initWeak(to, object);
  objc_release(object);
}

void objc_moveWeak(Object** to, Object** from) {
  objc_copyWeak(to, from);
  objc_destroyWeak(from);
}
}

} // namespace objc
