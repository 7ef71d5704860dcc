// @synchronized: a recursive lock for each object that is locked now.
#include <mutex>
#include <unordered_map>

#include "metal/objc/object.h"

namespace objc {
namespace {

struct Lock {
  std::recursive_mutex mutex;
  size_t users = 0; // holders and waiters; guarded by the shard
};

struct Shard {
  std::mutex mutex;
  std::unordered_map<const Object*, Lock> locks; // nodes do not move
};

Shard& shard_of(const Object* object) {
  static Shard* const shards = new Shard[16];
  return shards[(reinterpret_cast<uintptr_t>(object) >> 4) % 16];
}

} // namespace

extern "C" {

int objc_sync_enter(Object* object) {
  if (!object)
    return 0;
  Shard& shard = shard_of(object);
  Lock* lock;
  {
    std::lock_guard guard(shard.mutex);
    lock = &shard.locks[object];
    ++lock->users;
  }
  lock->mutex.lock();
  return 0;
}

int objc_sync_exit(Object* object) {
  if (!object)
    return 0;
  Shard& shard = shard_of(object);
  std::lock_guard guard(shard.mutex);
  auto found = shard.locks.find(object);
  if (found == shard.locks.end())
    return -1; // not locked: as Apple's OBJC_SYNC_NOT_OWNING_THREAD_ERROR
  found->second.mutex.unlock();
  if (--found->second.users == 0)
    shard.locks.erase(found);
  return 0;
}
}

} // namespace objc
