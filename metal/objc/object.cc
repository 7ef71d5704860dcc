// Instances: allocation, reference counts, the end of an object; ARC's entry points for strong
// references.
#include <cstdlib>
#include <cstring>

#include "metal/objc/block.h"
#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

void destroy(Object* object) {
  object->references.fetch_add(Object::kDeallocating, std::memory_order_relaxed);
  if (class_info(object->isa) & kClassOverridesDealloc)
    send<void, "dealloc">(object);
  else
    dispose(object);
}

// The C library's calloc may pass its cache of a thread's small blocks by; glibc's does.
void* zeroed_memory(size_t size) {
  constexpr size_t kSmall = 1024;
  if (size > kSmall)
    return std::calloc(1, size);
  void* memory = std::malloc(size);
  return memory ? std::memset(memory, 0, size) : nullptr;
}

void construct_client_part(Object* object, Class* cls) {
  if (!cls || (cls->native && (!cls->superclass || cls->native != cls->superclass->native)))
    return;
  construct_client_part(object, cls->superclass);
  if (cls->cxx_construct)
    reinterpret_cast<void (*)(Object*, Selector*)>(cls->cxx_construct)(object, nullptr);
}

} // namespace

void* allocate_instance(Class* cls) {
  void* memory = zeroed_memory(static_cast<size_t>(cls->instance_size));
  if (!memory)
    fatal("objc: no memory for an instance of %s (%ld bytes)", cls->name, cls->instance_size);
  static_cast<Object*>(memory)->isa = cls;
  return memory;
}

void dispose(Object* object) {
  Class* cls = object->isa;
  uint64_t marks = object->references.load(std::memory_order_relaxed);
  if (marks & Object::kWeaklyReferenced)
    clear_weak_references(object);
  if (marks & Object::kHasAssociated)
    forget_associated(object);
  for (Class* c = cls; c; c = c->superclass)
    if (c->cxx_destruct)
      reinterpret_cast<void (*)(Object*, Selector*)>(c->cxx_destruct)(object, nullptr);
  if (cls->native)
    cls->native->destroy(object);
  std::free(static_cast<void*>(object));
}

bool retain_if_alive(Object* object) {
  uint64_t value = object->references.load(std::memory_order_relaxed);
  while (value >= Object::kOneReference && value < Object::kDeallocating)
    if (object->references.compare_exchange_weak(value, value + Object::kOneReference,
                                                 std::memory_order_relaxed))
      return true;
  return false;
}

extern "C" {

Object* class_createInstance(Class* cls, size_t extra_bytes) {
  if (!cls)
    return nullptr;
  if (cls->native && !cls->native->construct)
    fatal("+[%s alloc]: objects of this class are made by other objects only", cls->name);
  void* memory = zeroed_memory(static_cast<size_t>(cls->instance_size) + extra_bytes);
  if (!memory)
    fatal("objc: no memory for an instance of %s (%ld bytes)", cls->name, cls->instance_size);
  auto* object = static_cast<Object*>(memory);
  object->isa = cls;
  if (cls->native) {
    cls->native->construct(memory);
    object->isa = cls;
  }
  construct_client_part(object, cls);
  return object;
}

Object* object_dispose(Object* object) {
  if (object)
    dispose(object);
  return nullptr;
}

// The count as -retainCount gives it.
unsigned long object_getRetainCount_np(Object* object) {
  return (object->references.load(std::memory_order_relaxed) & (Object::kDeallocating - 1)) /
         Object::kOneReference;
}

Object* objc_retain(Object* object) {
  if (!object || is_tagged(object))
    return object;
  if (class_info(object->isa) & kClassPlainReferences) {
    object->references.fetch_add(Object::kOneReference, std::memory_order_relaxed);
    return object;
  }
  return send<Object*, "retain">(object);
}

void objc_release(Object* object) {
  if (!object || is_tagged(object))
    return;
  if (!(class_info(object->isa) & kClassPlainReferences))
    return send<void, "release">(object);
  // acq_rel in place of a release with an acquire fence at zero: the same on x86, and TSan
  // understands it.
  uint64_t before = object->references.fetch_sub(Object::kOneReference, std::memory_order_acq_rel);
  if (before / Object::kOneReference == 1)
    destroy(object);
}

// -retain and -release of NSObject, past any override.
Object* bessemer_objc_root_retain(Object* object) {
  object->references.fetch_add(Object::kOneReference, std::memory_order_relaxed);
  return object;
}

void bessemer_objc_root_release(Object* object) {
  uint64_t before = object->references.fetch_sub(Object::kOneReference, std::memory_order_acq_rel);
  if (before / Object::kOneReference == 1)
    destroy(object);
}

Object* objc_retainAutorelease(Object* object) { return objc_autorelease(objc_retain(object)); }
Object* objc_retainAutoreleaseReturnValue(Object* object) {
  return objc_autorelease(objc_retain(object));
}
Object* objc_unsafeClaimAutoreleasedReturnValue(Object* object) { return object; }

void objc_storeStrong(Object** location, Object* object) {
  Object* retained = objc_retain(object);
  Object* old = *location;
  *location = retained;
  objc_release(old);
}

Object* objc_retainBlock(Object* block) { return static_cast<Object*>(_Block_copy(block)); }

Object* objc_alloc(Class* cls) { return send<Object*, "alloc">(cls); }
Object* objc_allocWithZone(Class* cls) { return send<Object*, "alloc">(cls); }
Object* objc_alloc_init(Class* cls) { return send<Object*, "init">(send<Object*, "alloc">(cls)); }
}

} // namespace objc
