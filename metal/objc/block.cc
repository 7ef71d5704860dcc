// The blocks runtime: copies of blocks and of the __block variables that they share. Layouts and
// flags are those of clang's Block ABI. A block is an object; its class says where it lives.
#include "metal/objc/block.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "metal/objc/class.h"
#include "metal/objc/runtime.h"

// The classes, under the names that clang's code takes the addresses of.
extern "C" {
[[gnu::visibility("default")]] constinit objc::Class
    stack_block_class __asm__("_NSConcreteStackBlock"){};
[[gnu::visibility("default")]] constinit objc::Class
    malloc_block_class __asm__("_NSConcreteMallocBlock"){};
[[gnu::visibility("default")]] constinit objc::Class
    global_block_class __asm__("_NSConcreteGlobalBlock"){};
}

namespace objc {
namespace {

enum : int {
  kReferenceMask = 0xfffe, // counted in twos
  kOneReference = 2,
  kNeedsFree = 1 << 24,      // in the heap
  kHasCopyDispose = 1 << 25, // has helpers to retain and release what it holds
  kIsGlobal = 1 << 28,       // holds nothing
};

struct Descriptor {
  unsigned long reserved;
  unsigned long size;
  void (*copy)(void* to, const void* from);
  void (*dispose)(const void* block);
};

struct Literal {
  Class* isa;
  std::atomic<int> flags;
  int reserved;
  void (*invoke)();
  Descriptor* descriptor;
};

// A __block variable: every user goes through `forwarding`, which leads to the heap copy once
// there is one.
struct Variable {
  void* isa;
  Variable* forwarding;
  std::atomic<int> flags;
  unsigned size;
  void (*keep)(void* to, void* from);
  void (*destroy)(void* variable);
};

// Bits of the last argument of _Block_object_assign and _dispose.
enum : int {
  kFieldIsObject = 3,
  kFieldIsBlock = 7,
  kFieldIsVariable = 8,
  kFieldIsWeak = 16,
  kCallerIsVariable = 128,
};

Variable* retain_variable(Variable* source) {
  Variable* target = source->forwarding;
  if (target->flags.load(std::memory_order_relaxed) & kNeedsFree) {
    target->flags.fetch_add(kOneReference, std::memory_order_relaxed);
    return target;
  }
  auto* copy = static_cast<Variable*>(std::malloc(source->size));
  if (!copy)
    fatal("objc: no memory for a __block variable of %u bytes", source->size);
  std::memcpy(static_cast<void*>(copy), source, source->size);
  // One reference for the stack frame that declared it, one for the block.
  int flags = source->flags.load(std::memory_order_relaxed) & ~kReferenceMask;
  copy->flags.store(flags | kNeedsFree | 2 * kOneReference, std::memory_order_relaxed);
  copy->forwarding = copy;
  source->forwarding = copy;
  if (flags & kHasCopyDispose)
    copy->keep(copy, source);
  return copy;
}

void release_variable(Variable* variable) {
  variable = variable->forwarding;
  if (!(variable->flags.load(std::memory_order_relaxed) & kNeedsFree))
    return;
  int before = variable->flags.fetch_sub(kOneReference, std::memory_order_acq_rel);
  if ((before & kReferenceMask) != kOneReference)
    return;
  if (before & kHasCopyDispose)
    variable->destroy(variable);
  std::free(static_cast<void*>(variable));
}

} // namespace

bool retain_block_if_alive(void* block) {
  auto* literal = static_cast<Literal*>(block);
  int flags = literal->flags.load(std::memory_order_relaxed);
  if (!(flags & kNeedsFree))
    return true;
  while (flags & kReferenceMask)
    if (literal->flags.compare_exchange_weak(flags, flags + kOneReference,
                                             std::memory_order_relaxed))
      return true;
  return false;
}

extern "C" {

void* _Block_copy(const void* block) {
  auto* source = static_cast<Literal*>(const_cast<void*>(block));
  if (!source)
    return nullptr;
  int flags = source->flags.load(std::memory_order_relaxed);
  if (flags & kIsGlobal)
    return source;
  if (flags & kNeedsFree) {
    source->flags.fetch_add(kOneReference, std::memory_order_relaxed);
    return source;
  }
  auto* copy = static_cast<Literal*>(std::malloc(source->descriptor->size));
  if (!copy)
    fatal("objc: no memory for a block of %lu bytes", source->descriptor->size);
  std::memcpy(static_cast<void*>(copy), source, source->descriptor->size);
  copy->flags.store((flags & ~kReferenceMask) | kNeedsFree | kOneReference,
                    std::memory_order_relaxed);
  copy->isa = &malloc_block_class;
  if (flags & kHasCopyDispose)
    copy->descriptor->copy(copy, source);
  return copy;
}

void _Block_release(const void* block) {
  auto* literal = static_cast<Literal*>(const_cast<void*>(block));
  if (!literal)
    return;
  int flags = literal->flags.load(std::memory_order_relaxed);
  if (flags & kIsGlobal || !(flags & kNeedsFree))
    return;
  int before = literal->flags.fetch_sub(kOneReference, std::memory_order_acq_rel);
  if ((before & kReferenceMask) != kOneReference)
    return;
  clear_weak_references(literal);
  if (before & kHasCopyDispose)
    literal->descriptor->dispose(literal);
  std::free(static_cast<void*>(literal));
}

void _Block_object_assign(void* destination, const void* object, int field) {
  if (field & kCallerIsVariable) {
    // A __block variable does not retain what it holds, unless ARC does so itself.
    *static_cast<const void**>(destination) = object;
  } else if (field & kFieldIsVariable) {
    *static_cast<Variable**>(destination) =
        retain_variable(static_cast<Variable*>(const_cast<void*>(object)));
  } else if ((field & kFieldIsBlock) == kFieldIsBlock) {
    *static_cast<void**>(destination) = _Block_copy(object);
  } else if ((field & kFieldIsObject) == kFieldIsObject) {
    *static_cast<Object**>(destination) =
        objc_retain(static_cast<Object*>(const_cast<void*>(object)));
  }
}

void _Block_object_dispose(const void* object, int field) {
  if (field & kCallerIsVariable)
    return;
  if (field & kFieldIsVariable)
    release_variable(static_cast<Variable*>(const_cast<void*>(object)));
  else if ((field & kFieldIsBlock) == kFieldIsBlock)
    _Block_release(object);
  else if ((field & kFieldIsObject) == kFieldIsObject)
    objc_release(static_cast<Object*>(const_cast<void*>(object)));
}
}

namespace {

Object* copy_block(Object* self) { return static_cast<Object*>(_Block_copy(self)); }
void release_block(Object* self) { _Block_release(self); }

constexpr ClassMembers kMembers = {
    .methods =
        {
            method<&copy_block>("copy"),
            method<&copy_block>("retain"),
            method<&release_block>("release"),
            method<&bessemer_objc_root_autorelease>("autorelease"),
        },
    .info = kClassForeignLayout | kClassIsBlock,
};
constexpr NativeClass kNative = {sizeof(Literal), nullptr, [](Object*) {}};

constinit Class stack_block_meta{}, malloc_block_meta{}, global_block_meta{};

constexpr ClassDefinition kDefinitions[] = {
    {&stack_block_class, &stack_block_meta, "__NSStackBlock__", &Object::class_object, &kNative,
     kMembers},
    {&malloc_block_class, &malloc_block_meta, "__NSMallocBlock__", &Object::class_object, &kNative,
     kMembers},
    {&global_block_class, &global_block_meta, "__NSGlobalBlock__", &Object::class_object, &kNative,
     kMembers},
};
// One variable each: an array would be aligned so that the section gets gaps.
#define ENTRY(number)                                                                              \
  [[gnu::section("objc_native_classes"), gnu::used, gnu::retain,                                   \
    clang::no_sanitize("address")]] constexpr const ClassDefinition* kEntry##number =              \
      &kDefinitions[number]
ENTRY(0);
ENTRY(1);
ENTRY(2);
#undef ENTRY

} // namespace
} // namespace objc
