// The C functions that look into classes and change them at run time.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

/// A copy of a list as the copy... functions give it: malloc'd, ending in null; null when empty.
template <class T>
T* copy_list(const std::vector<T>& items, unsigned* count) {
  if (count)
    *count = static_cast<unsigned>(items.size());
  if (items.empty())
    return nullptr;
  auto* copy = static_cast<T*>(std::calloc(items.size() + 1, sizeof(T)));
  std::copy(items.begin(), items.end(), copy);
  return copy;
}

Method* own_method(Class* cls, const Selector* selector) {
  for (MethodList* list = cls->methods; list; list = list->next)
    for (int i = 0; i < list->count; ++i)
      if (same_selector(list->at(i).selector, selector))
        return &list->at(i);
  return nullptr;
}

void add_one_method(Class* cls, Selector* selector, Imp imp, const char* types) {
  auto* list = static_cast<MethodList*>(std::calloc(1, sizeof(MethodList) + sizeof(Method)));
  list->entry_size = sizeof(Method);
  list->count = 1;
  list->first[0] = {imp, selector, types ? strdup(types) : nullptr};
  if (class_info(cls) & kClassLinked || cls->is_meta())
    attach_methods(cls, list);
  else {
    list->next = cls->methods;
    cls->methods = list;
  }
}

} // namespace

extern "C" {

// --- Objects ----------------------------------------------------------------------------------

Class* object_getClass(const Object* object) { return class_of(object); }
const char* object_getClassName(const Object* object) {
  return object ? class_of(object)->name : "nil";
}
bool object_isClass(const Object* object) { return object && class_of(object)->is_meta(); }

Class* object_setClass(Object* object, Class* cls) {
  if (!object || is_tagged(object))
    return nullptr;
  return std::atomic_ref(object->isa).exchange(cls, std::memory_order_relaxed);
}

ptrdiff_t ivar_getOffset(const Ivar* ivar) { return ivar->offset ? *ivar->offset : 0; }
const char* ivar_getName(const Ivar* ivar) { return ivar->name; }
const char* ivar_getTypeEncoding(const Ivar* ivar) { return ivar->type; }

Object* object_getIvar(Object* object, const Ivar* ivar) {
  if (!object || !ivar)
    return nullptr;
  return *reinterpret_cast<Object**>(reinterpret_cast<char*>(object) + ivar_getOffset(ivar));
}
// Without a retain, as on a Mac for ivars of unknown ownership.
void object_setIvar(Object* object, const Ivar* ivar, Object* value) {
  if (object && ivar)
    *reinterpret_cast<Object**>(reinterpret_cast<char*>(object) + ivar_getOffset(ivar)) = value;
}

// --- Classes ----------------------------------------------------------------------------------

const char* class_getName(const Class* cls) { return cls ? cls->name : "nil"; }
Class* class_getSuperclass(const Class* cls) { return cls ? cls->superclass : nullptr; }
bool class_isMetaClass(const Class* cls) { return cls && cls->is_meta(); }
size_t class_getInstanceSize(const Class* cls) {
  return cls ? static_cast<size_t>(cls->instance_size) : 0;
}
bool class_respondsToSelector(Class* cls, const Selector* selector) {
  return cls && selector && lookup(cls, selector);
}

Method* class_getInstanceMethod(Class* cls, const Selector* selector) {
  if (!cls || !selector)
    return nullptr;
  std::lock_guard lock(runtime_lock());
  return find_method(cls, selector);
}
Method* class_getClassMethod(Class* cls, const Selector* selector) {
  return cls ? class_getInstanceMethod(cls->isa, selector) : nullptr;
}
Imp class_getMethodImplementation(Class* cls, const Selector* selector) {
  return cls && selector ? lookup(cls, selector) : nullptr;
}
Imp class_getMethodImplementation_stret(Class* cls, const Selector* selector) {
  return class_getMethodImplementation(cls, selector);
}

Method** class_copyMethodList(Class* cls, unsigned* count) {
  std::vector<Method*> methods;
  std::lock_guard lock(runtime_lock());
  for (MethodList* list = cls ? cls->methods : nullptr; list; list = list->next)
    for (int i = 0; i < list->count; ++i)
      methods.push_back(&list->at(i));
  return copy_list(methods, count);
}

Class** objc_copyClassList(unsigned* count) {
  extern int objc_getClassList(Class**, int);
  std::lock_guard lock(runtime_lock());
  std::vector<Class*> classes(static_cast<size_t>(objc_getClassList(nullptr, 0)));
  objc_getClassList(classes.data(), static_cast<int>(classes.size()));
  return copy_list(classes, count);
}

Protocol** class_copyProtocolList(Class* cls, unsigned* count) {
  std::vector<Protocol*> protocols;
  std::lock_guard lock(runtime_lock());
  for (ProtocolList* list = cls ? cls->protocols : nullptr; list; list = list->next)
    protocols.insert(protocols.end(), list->first, list->first + list->count);
  return copy_list(protocols, count);
}

Ivar** class_copyIvarList(Class* cls, unsigned* count) {
  std::vector<Ivar*> ivars;
  if (cls && cls->ivars)
    for (int i = 0; i < cls->ivars->count; ++i)
      ivars.push_back(&cls->ivars->at(i));
  return copy_list(ivars, count);
}

Ivar* class_getInstanceVariable(Class* cls, const char* name) {
  for (; cls && name; cls = cls->superclass)
    if (cls->ivars)
      for (int i = 0; i < cls->ivars->count; ++i)
        if (!std::strcmp(cls->ivars->at(i).name, name))
          return &cls->ivars->at(i);
  return nullptr;
}

Property** class_copyPropertyList(Class* cls, unsigned* count) {
  std::vector<Property*> properties;
  for (PropertyList* list = cls ? cls->properties : nullptr; list; list = list->next)
    for (int i = 0; i < list->count; ++i)
      properties.push_back(&list->at(i));
  return copy_list(properties, count);
}

Property* class_getProperty(Class* cls, const char* name) {
  for (; cls && name; cls = cls->superclass)
    for (PropertyList* list = cls->properties; list; list = list->next)
      for (int i = 0; i < list->count; ++i)
        if (!std::strcmp(list->at(i).name, name))
          return &list->at(i);
  return nullptr;
}
const char* property_getName(const Property* property) { return property->name; }
const char* property_getAttributes(const Property* property) { return property->attributes; }

bool class_addMethod(Class* cls, Selector* selector, Imp imp, const char* types) {
  if (!cls || !selector || !imp)
    return false;
  std::lock_guard lock(runtime_lock());
  if (own_method(cls, selector))
    return false;
  add_one_method(cls, selector, imp, types);
  return true;
}

Imp method_setImplementation(Method* method, Imp imp) {
  std::lock_guard lock(runtime_lock());
  Imp before = method->imp;
  method->imp = imp;
  forget_cached(method->selector);
  return before;
}

Imp class_replaceMethod(Class* cls, Selector* selector, Imp imp, const char* types) {
  if (!cls || !selector)
    return nullptr;
  std::lock_guard lock(runtime_lock());
  if (Method* method = own_method(cls, selector))
    return method_setImplementation(method, imp);
  add_one_method(cls, selector, imp, types);
  return nullptr;
}

void method_exchangeImplementations(Method* a, Method* b) {
  if (!a || !b)
    return;
  std::lock_guard lock(runtime_lock());
  std::swap(a->imp, b->imp);
  forget_cached(a->selector);
  forget_cached(b->selector);
}

Selector* method_getName(const Method* method) { return method ? method->selector : nullptr; }
Imp method_getImplementation(const Method* method) { return method ? method->imp : nullptr; }
const char* method_getTypeEncoding(const Method* method) {
  return method ? method->types : nullptr;
}

// --- Classes made at run time -----------------------------------------------------------------

Class* objc_allocateClassPair(Class* superclass, const char* name, size_t extra_bytes) {
  if (!name || find_class(name))
    return nullptr;
  auto* cls = static_cast<Class*>(std::calloc(1, sizeof(Class) + extra_bytes));
  auto* meta = static_cast<Class*>(std::calloc(1, sizeof(Class)));
  cls->isa = meta;
  cls->superclass = superclass;
  cls->name = meta->name = strdup(name);
  cls->info = kClassMadeAtRunTime;
  meta->info = kClassIsMeta | kClassMadeAtRunTime;
  meta->instance_size = sizeof(Class);
  // Messages to the class work before it is registered, those of its superclass at least.
  meta->isa = superclass ? superclass->isa->isa : meta;
  meta->superclass = superclass ? superclass->isa : cls;
  cls->dispatch = meta->dispatch = empty_dispatch;
  return cls;
}

void objc_disposeClassPair(Class*) {
  // Tables may still point at the class; one that a program makes and drops is small.
}

bool class_addIvar(Class* cls, const char* name, size_t size, uint8_t alignment,
                   const char* types) {
  if (!cls || !(cls->info & kClassMadeAtRunTime) || class_info(cls) & kClassLinked)
    return false;
  int count = cls->ivars ? cls->ivars->count : 0;
  auto* list = static_cast<IvarList*>(
      std::calloc(1, sizeof(IvarList) + static_cast<size_t>(count + 1) * sizeof(Ivar)));
  list->count = count + 1;
  list->entry_size = sizeof(Ivar);
  for (int i = 0; i < count; ++i)
    list->first[i] = cls->ivars->at(i);
  list->first[count] = {strdup(name), types ? strdup(types) : "",
                        static_cast<int*>(std::calloc(1, sizeof(int))), static_cast<uint32_t>(size),
                        uint32_t{alignment} << 3};
  std::free(cls->ivars);
  cls->ivars = list;
  return true;
}
}

} // namespace objc
