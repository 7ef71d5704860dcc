// What the files of this folder share: the tables and the lock that guards them.
#pragma once

#include <atomic>
#include <mutex>
#include <string_view>

#include "metal/objc/abi.h"
#include "metal/objc/object.h"

namespace objc {

// Entries of a class's dispatch table. Selectors from this index on are found by the slow way each
// time; entry 0 is always null. Untouched pages of a table cost no memory.
inline constexpr size_t kDispatchEntries = 32768;

// Guards the class tree, method lists, protocol table and dispatch tables' writers. Recursive,
// since linking one class may link its superclass.
std::recursive_mutex& runtime_lock();

// Ends the process with one line on standard error. For misuse that Apple answers with an
// exception.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...);

// selector.cc
uint64_t selector_index(std::string_view name);
void register_selector(Selector* selector); // one of an image's: its name becomes the index
inline bool same_selector(const Selector* a, const Selector* b) { return a->index == b->index; }

// dispatch.cc
extern Imp empty_dispatch[kDispatchEntries];
extern Class* tagged_classes[8]; // by the low three bits of the pointer
// The first method for the selector from `cls` upwards, or null. Holds no lock: the caller does.
Method* find_method(const Class* cls, const Selector* selector);
// The code, cached; null when there is none. Runs +initialize.
Imp lookup(Class* cls, const Selector* selector);
void forget_cached(const Selector* selector);

// class_table.cc
void link_native_classes(); // idempotent
void link_class(Class* cls);
void attach_methods(Class* cls, MethodList* list);
Class* find_class(std::string_view name);
// True for a class and its metaclass once +initialize was sent.
inline bool is_initialized(const Class* cls) {
  return std::atomic_ref(const_cast<unsigned long&>(cls->info)).load(std::memory_order_acquire) &
         kClassInitialized;
}
inline unsigned long class_info(const Class* cls) {
  return std::atomic_ref(const_cast<unsigned long&>(cls->info)).load(std::memory_order_relaxed);
}

// protocol.cc
void register_protocol(Protocol* protocol);
Protocol* find_or_make_protocol(const char* name);
bool protocol_conforms(const Protocol* protocol, const Protocol* other);
bool class_conforms(const Class* cls, const Protocol* protocol);

// weak.cc
void clear_weak_references(void* object);

// associated.cc
void forget_associated(Object* object);
// So that the object's end asks for its associated objects. Without effect on literals and classes,
// which do not end, and on blocks, whose associated objects are never released.
inline void mark_associated(Object* object) {
  if (!is_tagged(object) && !(class_info(object->isa) & (kClassForeignLayout | kClassIsMeta)))
    object->references.fetch_or(Object::kHasAssociated, std::memory_order_relaxed);
}

// block.cc
bool retain_block_if_alive(void* block);

// The methods of NSObject that count references, past any override.
extern "C" Object* bessemer_objc_root_retain(Object* object);
extern "C" void bessemer_objc_root_release(Object* object);
extern "C" Object* bessemer_objc_root_autorelease(Object* object);
extern "C" Object* class_createInstance(Class* cls, size_t extra_bytes);

// autorelease_pool.cc
size_t autorelease_count(); // objects in this thread's pools

// object.cc
void dispose(Object* object); // destroys and frees, after every dealloc has run
bool retain_if_alive(Object* object);

} // namespace objc
