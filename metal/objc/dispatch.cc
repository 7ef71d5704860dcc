// The slow way of a message: find the method, run +initialize, fill the class's dispatch table,
// or forward. The fast way is message_x86_64.S and message_aarch64.S.
#include "metal/objc/dispatch.h"

#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unordered_map>
#include <vector>

#include <sys/mman.h>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {

// All zero and never written.
Imp empty_dispatch[kDispatchEntries];
Class* tagged_classes[8];

std::recursive_mutex& runtime_lock() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

void fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::abort();
}

Class* class_of(const Object* object) {
  if (!object)
    return nullptr;
  if (is_tagged(object))
    return tagged_classes[reinterpret_cast<uintptr_t>(object) & 7];
  return object->isa;
}

bool is_subclass(const Class* cls, const Class* ancestor) {
  for (; cls; cls = cls->superclass)
    if (cls == ancestor)
      return true;
  return false;
}

Method* find_method(const Class* cls, const Selector* selector) {
  for (; cls; cls = cls->superclass)
    for (MethodList* list = cls->methods; list; list = list->next)
      for (int i = 0; i < list->count; ++i)
        if (same_selector(list->at(i).selector, selector))
          return &list->at(i);
  return nullptr;
}

namespace {

// Classes whose tables are not `empty_dispatch`, for forget_cached. Guarded by the runtime lock.
std::vector<Class*>& classes_with_tables() {
  static auto& classes = *new std::vector<Class*>;
  return classes;
}

Imp load_entry(const Class* cls, uint64_t index) {
  Imp* table = std::atomic_ref(const_cast<Imp*&>(cls->dispatch)).load(std::memory_order_acquire);
  if (index >= kDispatchEntries)
    return nullptr;
  return std::atomic_ref(table[index]).load(std::memory_order_acquire);
}

void store_entry(Class* cls, uint64_t index, Imp imp) {
  if (index >= kDispatchEntries)
    return;
  if (cls->dispatch == empty_dispatch) {
    void* table = mmap(nullptr, kDispatchEntries * sizeof(Imp), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
      return; // slower, still right
    std::atomic_ref(cls->dispatch).store(static_cast<Imp*>(table), std::memory_order_release);
    classes_with_tables().push_back(cls);
  }
  std::atomic_ref(cls->dispatch[index]).store(imp, std::memory_order_release);
}

// +initialize: once for each class, superclasses first, while other threads that message the class
// wait and the thread that runs it goes on.
struct Initializing {
  std::mutex mutex;
  std::condition_variable done;
  std::unordered_map<Class*, std::thread::id> running;
};

Initializing& initializing() {
  static auto& instance = *new Initializing;
  return instance;
}

Class* non_meta(Class* cls) { return cls->is_meta() ? find_class(cls->name) : cls; }

void initialize(Class* cls) {
  if (is_initialized(cls))
    return;
  cls = non_meta(cls);
  if (!cls) // a metaclass made at run time and not registered yet
    return;
  if (cls->superclass)
    initialize(cls->superclass);
  Initializing& state = initializing();
  {
    std::unique_lock lock(state.mutex);
    for (;;) {
      if (is_initialized(cls))
        return;
      auto running = state.running.find(cls);
      if (running == state.running.end())
        break;
      if (running->second == std::this_thread::get_id())
        return;
      state.done.wait(lock);
    }
    state.running.emplace(cls, std::this_thread::get_id());
  }
  Imp imp = nullptr;
  Selector* initialize_selector = selector<"initialize">();
  {
    std::lock_guard lock(runtime_lock());
    if (Method* method = find_method(cls->isa, initialize_selector))
      imp = method->imp;
  }
  if (imp)
    reinterpret_cast<void (*)(Class*, Selector*)>(imp)(cls, initialize_selector);
  std::lock_guard lock(state.mutex);
  std::atomic_ref(cls->isa->info).fetch_or(kClassInitialized, std::memory_order_release);
  std::atomic_ref(cls->info).fetch_or(kClassInitialized, std::memory_order_release);
  state.running.erase(cls);
  state.done.notify_all();
}

// What +resolveInstanceMethod: and -forwardingTargetForSelector: of clients may add.
bool resolve(Class* cls, const Selector* wanted) {
  bool meta = cls->is_meta();
  Class* base = non_meta(cls);
  Selector* resolver =
      meta ? selector<"resolveClassMethod:">() : selector<"resolveInstanceMethod:">();
  Imp imp = base ? lookup(base->isa, resolver) : nullptr;
  return imp && reinterpret_cast<bool (*)(Class*, Selector*, const Selector*)>(imp)(base, resolver,
                                                                                    wanted);
}

} // namespace

Imp lookup(Class* cls, const Selector* selector) {
  if (Imp imp = load_entry(cls, selector->index))
    return imp;
  initialize(cls);
  std::lock_guard lock(runtime_lock());
  Method* method = find_method(cls, selector);
  if (!method)
    return nullptr;
  // While +initialize runs, other threads must keep coming here, to wait for it.
  if (is_initialized(cls))
    store_entry(cls, selector->index, method->imp);
  return method->imp;
}

void forget_cached(const Selector* selector) {
  std::lock_guard lock(runtime_lock());
  for (Class* cls : classes_with_tables())
    store_entry(cls, selector->index, nullptr);
}

bool responds_to(const Object* object, const Selector* selector) {
  if (!object)
    return false;
  Class* cls = class_of(object);
  return load_entry(cls, selector->index) || lookup(cls, selector);
}

extern "C" {

Target bessemer_objc_find_target(Object* receiver, const Selector* selector) {
  for (;;) {
    Class* cls = class_of(receiver);
    if (!cls)
      fatal("objc: message %s to %p, which is no object", sel_getName(selector),
            static_cast<void*>(receiver));
    if (Imp imp = lookup(cls, selector))
      return {imp, receiver};
    if (resolve(cls, selector))
      if (Imp imp = lookup(cls, selector))
        return {imp, receiver};
    Selector* forward = objc::selector<"forwardingTargetForSelector:">();
    if (!same_selector(forward, selector))
      if (Imp imp = lookup(cls, forward)) {
        Object* target = reinterpret_cast<Object* (*)(Object*, Selector*, const Selector*)>(imp)(
            receiver, forward, selector);
        if (target && target != receiver) {
          receiver = target;
          continue;
        }
      }
    Selector* refuse = objc::selector<"doesNotRecognizeSelector:">();
    if (!same_selector(refuse, selector))
      if (Imp imp = lookup(cls, refuse))
        reinterpret_cast<void (*)(Object*, Selector*, const Selector*)>(imp)(receiver, refuse,
                                                                             selector);
    unrecognized_selector(receiver, selector);
  }
}

Imp objc_msg_lookup(Object* receiver, const Selector* selector) {
  if (!receiver)
    return reinterpret_cast<Imp>(+[]() -> void* { return nullptr; });
  return bessemer_objc_find_target(receiver, selector).imp;
}

Imp objc_msg_lookup_super(Super* super, const Selector* selector) {
  if (!super->receiver)
    return objc_msg_lookup(nullptr, selector);
  if (Imp imp = lookup(super->superclass, selector))
    return imp;
  unrecognized_selector(super->receiver, selector);
}
}

void unrecognized_selector(const Object* receiver, const Selector* selector) {
  const Class* cls = class_of(receiver);
  fatal("%c[%s %s]: unrecognized selector sent to %s %p", cls->is_meta() ? '+' : '-', cls->name,
        sel_getName(selector), cls->is_meta() ? "class" : "instance",
        static_cast<const void*>(receiver));
}

} // namespace objc
