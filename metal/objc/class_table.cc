// Classes by name: native ones, linked before any client's initialisers, and those of client
// images.
#include <cstdlib>
#include <unordered_map>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

// The linker's bounds of the section that OBJC_DEFINE_CLASS fills.
extern "C" {
[[gnu::visibility(
    "hidden")]] extern const objc::ClassDefinition* const __start_objc_native_classes[];
[[gnu::visibility(
    "hidden")]] extern const objc::ClassDefinition* const __stop_objc_native_classes[];
}

namespace objc {
namespace {

using Table = std::unordered_map<std::string_view, Class*>;

Table& table() {
  static auto& instance = *new Table;
  return instance;
}

MethodList* make_methods(std::initializer_list<MethodDefinition> definitions) {
  if (definitions.size() == 0)
    return nullptr;
  auto* list = static_cast<MethodList*>(
      std::calloc(1, sizeof(MethodList) + definitions.size() * sizeof(Method)));
  list->entry_size = sizeof(Method);
  for (const MethodDefinition& definition : definitions)
    list->first[list->count++] = {definition.imp(), sel_registerName(definition.selector),
                                  definition.types};
  return list;
}

void link_native_class(const ClassDefinition& definition);

const ClassDefinition* definition_of(const Class* cls) {
  for (auto* entry = __start_objc_native_classes; entry != __stop_objc_native_classes; ++entry)
    if ((*entry)->class_object == cls)
      return *entry;
  return nullptr;
}

void link_native_class(const ClassDefinition& definition) {
  Class* cls = definition.class_object;
  if (cls->isa)
    return;
  if (definition.superclass)
    if (const ClassDefinition* superclass = definition_of(definition.superclass))
      link_native_class(*superclass);
  Class* meta = definition.metaclass;
  cls->isa = meta;
  cls->superclass = definition.superclass;
  cls->name = definition.name;
  cls->native = definition.native;
  cls->instance_size = static_cast<long>(definition.native->size);
  meta->name = definition.name;
  cls->info = definition.members.info;
  meta->info = kClassIsMeta;
  meta->instance_size = sizeof(Class);
  cls->methods = make_methods(definition.members.methods);
  meta->methods = make_methods(definition.members.class_methods);
  if (size_t count = definition.members.protocols.size()) {
    cls->protocols = static_cast<ProtocolList*>(
        std::calloc(1, sizeof(ProtocolList) + count * sizeof(Protocol*)));
    for (const char* name : definition.members.protocols)
      cls->protocols->first[cls->protocols->count++] = find_or_make_protocol(name);
  }
  link_class(cls);
}

// Places a client class's own ivars after the superclass's.
void place_ivars(Class* cls) {
  size_t size = cls->superclass ? static_cast<size_t>(cls->superclass->instance_size) : 0;
  if (cls->ivars)
    for (int i = 0; i < cls->ivars->count; ++i) {
      Ivar& ivar = cls->ivars->at(i);
      size = (size + ivar.alignment() - 1) & ~(ivar.alignment() - 1);
      if (ivar.offset)
        *ivar.offset = static_cast<int>(size);
      size += ivar.size;
    }
  cls->instance_size = static_cast<long>(size);
}

// Notes which of the methods that the runtime calls itself are overridden by `list`.
void note_overrides(Class* cls, MethodList* list) {
  if (cls->is_meta() || !cls->superclass)
    return;
  for (int i = 0; i < list->count; ++i) {
    const Selector* selector = list->at(i).selector;
    if (same_selector(selector, objc::selector<"retain">()) ||
        same_selector(selector, objc::selector<"release">()) ||
        same_selector(selector, objc::selector<"autorelease">()))
      cls->info &= ~kClassPlainReferences;
    if (same_selector(selector, objc::selector<"dealloc">()))
      cls->info |= kClassOverridesDealloc;
    if (same_selector(selector, objc::selector<".cxx_construct">()))
      cls->cxx_construct = reinterpret_cast<void*>(list->at(i).imp);
    if (same_selector(selector, objc::selector<".cxx_destruct">()))
      cls->cxx_destruct = reinterpret_cast<void*>(list->at(i).imp);
  }
}

void inherit_overrides(Class* cls) {
  for (Class* subclass = cls->first_subclass; subclass; subclass = subclass->next_sibling) {
    if (!(cls->info & kClassPlainReferences))
      subclass->info &= ~kClassPlainReferences;
    subclass->info |= cls->info & kClassOverridesDealloc;
    inherit_overrides(subclass);
  }
}

} // namespace

void link_class(Class* cls) {
  std::lock_guard lock(runtime_lock());
  if (cls->info & kClassLinked)
    return;
  if (cls->superclass)
    link_class(cls->superclass);
  Class* meta = cls->isa;
  meta->info |= kClassIsMeta | kClassLinked;
  cls->info |= kClassLinked;
  cls->dispatch = meta->dispatch = empty_dispatch;
  meta->name = cls->name;
  if (Class* superclass = cls->superclass) {
    meta->superclass = superclass->isa;
    meta->isa = superclass->isa->isa;
    cls->next_sibling = superclass->first_subclass;
    superclass->first_subclass = cls;
    cls->info |= superclass->info & (kClassPlainReferences | kClassOverridesDealloc |
                                     kClassForeignLayout | kClassIsBlock);
    if (!cls->native)
      cls->native = superclass->native;
  } else {
    meta->superclass = cls;
    meta->isa = meta;
    if (cls->native)
      cls->info |= kClassPlainReferences;
  }
  if (!cls->native || (cls->superclass && cls->native == cls->superclass->native))
    place_ivars(cls);
  for (MethodList* list = cls->methods; list; list = list->next)
    note_overrides(cls, list);
  // The first of a name stays: what a client or the process already uses must not change under it.
  if (auto [existing, is_new] = table().try_emplace(cls->name, cls); !is_new)
    std::fprintf(stderr, "objc: class %s is defined twice; the first is used by name\n", cls->name);
}

void attach_methods(Class* cls, MethodList* list) {
  if (!list)
    return;
  std::lock_guard lock(runtime_lock());
  MethodList* last = list;
  while (last->next)
    last = last->next;
  last->next = cls->methods;
  cls->methods = list;
  note_overrides(cls, list);
  inherit_overrides(cls);
  for (MethodList* l = list;; l = l->next) {
    for (int i = 0; i < l->count; ++i)
      forget_cached(l->at(i).selector);
    if (l == last)
      break;
  }
}

Class* find_class(std::string_view name) {
  std::lock_guard lock(runtime_lock());
  auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

// Before every initialiser of default priority, here or in an image that depends on this one.
[[gnu::constructor(101)]] void link_native_classes() {
  std::lock_guard lock(runtime_lock());
  for (auto* entry = __start_objc_native_classes; entry != __stop_objc_native_classes; ++entry)
    link_native_class(**entry);
}

extern "C" {

Class* objc_lookUpClass(const char* name) { return name ? find_class(name) : nullptr; }
Class* objc_getClass(const char* name) { return objc_lookUpClass(name); }
Class* objc_lookup_class(const char* name) { return objc_lookUpClass(name); }

Class* objc_getRequiredClass(const char* name) {
  if (Class* cls = objc_lookUpClass(name))
    return cls;
  fatal("objc: class %s does not exist", name ? name : "(null)");
}
Class* objc_get_class(const char* name) { return objc_getRequiredClass(name); }

Class* objc_getMetaClass(const char* name) {
  Class* cls = objc_lookUpClass(name);
  return cls ? cls->isa : nullptr;
}

// Fills `buffer` as far as `capacity` goes; gives how many there are.
int objc_getClassList(Class** buffer, int capacity) {
  std::lock_guard lock(runtime_lock());
  int count = 0;
  for (const auto& [name, cls] : table()) {
    if (buffer && count < capacity)
      buffer[count] = cls;
    ++count;
  }
  return count;
}

void objc_registerClassPair(Class* cls) {
  std::lock_guard lock(runtime_lock());
  link_class(cls);
}
}

} // namespace objc
