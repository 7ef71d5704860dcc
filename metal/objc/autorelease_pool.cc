// Autorelease pools: one stack of objects for each thread; a pool is a height in it.
#include <cstdlib>

#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

struct Stack {
  Object** items;
  size_t count;
  size_t capacity;
};

// Plain data in the static TLS block, since every autorelease goes here.
[[gnu::tls_model("initial-exec")]] constinit thread_local Stack stack{};

void pop_to(size_t height) {
  // Releases may autorelease more.
  while (stack.count > height)
    objc_release(stack.items[--stack.count]);
}

// Made by a thread's first autorelease; what no pool took is released when the thread ends.
struct AtThreadEnd {
  bool armed = false;
  ~AtThreadEnd() {
    if (!armed)
      return;
    pop_to(0);
    std::free(stack.items);
    stack = {};
  }
};
thread_local AtThreadEnd at_thread_end;

void grow() {
  at_thread_end.armed = true;
  size_t capacity = stack.capacity ? stack.capacity * 2 : 256;
  auto* items = static_cast<Object**>(std::realloc(stack.items, capacity * sizeof(Object*)));
  if (!items)
    fatal("objc: no memory for an autorelease pool of %zu objects", capacity);
  stack.items = items;
  stack.capacity = capacity;
}

} // namespace

size_t autorelease_count() { return stack.count; }

extern "C" {

Object* bessemer_objc_root_autorelease(Object* object) {
  if (stack.count == stack.capacity)
    grow();
  stack.items[stack.count++] = object;
  return object;
}

Object* objc_autorelease(Object* object) {
  if (!object || is_tagged(object))
    return object;
  if (!(class_info(object->isa) & kClassPlainReferences))
    return send<Object*, "autorelease">(object);
  return bessemer_objc_root_autorelease(object);
}

Object* objc_autoreleaseReturnValue(Object* object) { return objc_autorelease(object); }

// Takes a reference that the callee has just given to the pool back out of it.
Object* objc_retainAutoreleasedReturnValue(Object* object) {
  if (object && stack.count && stack.items[stack.count - 1] == object) {
    --stack.count;
    return object;
  }
  return objc_retain(object);
}

// A pool is its height plus one, so that it is never null.
void* objc_autoreleasePoolPush() { return reinterpret_cast<void*>(stack.count + 1); }

void objc_autoreleasePoolPop(void* pool) {
  if (pool)
    pop_to(reinterpret_cast<size_t>(pool) - 1);
}
}

} // namespace objc
