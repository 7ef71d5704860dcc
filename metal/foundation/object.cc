// NSObject, and the class of protocol objects.
#include <cstdio>
#include <cstring>

#include "metal/foundation/method_signature.h"
#include "metal/foundation/string.h"
#include "metal/foundation/types.h"
#include "metal/objc/dispatch.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

extern "C" unsigned long object_getRetainCount_np(Object* object);

Object* self_of(Object* self) { return self; }
void dealloc(Object* self) { dispose(self); }
bool is_kind_of(Object* self, Class* cls) { return is_subclass(class_of(self), cls); }
bool is_member_of(Object* self, Class* cls) { return class_of(self) == cls; }
bool conforms(Object* self, Protocol* protocol) { return class_conforms(class_of(self), protocol); }
Class* superclass_of(Object* self) { return class_of(self)->superclass; }
uint64_t pointer_hash(Object* self) { return reinterpret_cast<uintptr_t>(self) >> 4; }
bool pointer_equal(Object* self, Object* other) { return self == other; }
bool no(Object*) { return false; }
void* null_pointer(Object*) { return nullptr; }

ns::String* describe(Object* self) {
  Class* cls = class_of(self);
  if (cls->is_meta())
    return ns::autoreleased_string(cls->name);
  char text[32];
  std::snprintf(text, sizeof text, ": %p>", static_cast<void*>(self));
  return ns::autoreleased_string("<" + std::string(cls->name) + text);
}
ns::String* debug_description(Object* self) { return send<ns::String*, "description">(self); }

Object* copy(Object* self) { return send<Object*, "copyWithZone:">(self, (void*)nullptr); }
Object* mutable_copy(Object* self) {
  return send<Object*, "mutableCopyWithZone:">(self, (void*)nullptr);
}

Object* perform(Object* self, Selector* selector) {
  return reinterpret_cast<Object* (*)(Object*, Selector*)>(&objc_msgSend)(self, selector);
}
Object* perform_with(Object* self, Selector* selector, Object* argument) {
  return reinterpret_cast<Object* (*)(Object*, Selector*, Object*)>(&objc_msgSend)(self, selector,
                                                                                   argument);
}
Object* perform_with_two(Object* self, Selector* selector, Object* first, Object* second) {
  return reinterpret_cast<Object* (*)(Object*, Selector*, Object*, Object*)>(&objc_msgSend)(
      self, selector, first, second);
}

bool instance_responds(Object* self, Selector* selector) {
  return selector && responds_to(self, selector);
}
Imp method_for(Object* self, Selector* selector) { return lookup(class_of(self), selector); }

ns::MethodSignature* signature_in(Class* cls, Selector* selector) {
  if (!selector)
    return nullptr;
  const char* types = nullptr;
  {
    std::lock_guard lock(runtime_lock());
    if (Method* method = find_method(cls, selector))
      types = method->types ? method->types : method->selector->types;
  }
  return types ? make<ns::MethodSignature>(types).autorelease() : nullptr;
}
ns::MethodSignature* signature_for(Object* self, Selector* selector) {
  return signature_in(class_of(self), selector);
}

void does_not_recognize(Object* self, Selector* selector) { unrecognized_selector(self, selector); }

// Class methods. A class is never released.
Object* alloc(Class* self) { return class_createInstance(self, 0); }
Object* alloc_with_zone(Class* self, void*) { return send<Object*, "alloc">(self); }
Object* make_new(Class* self) { return send<Object*, "init">(send<Object*, "alloc">(self)); }
Class* class_self(Class* self) { return self; }
Class* class_superclass(Class* self) { return self->superclass; }
void keep(Class*) {}
uint64_t for_ever(Class*) { return UINT64_MAX; }
bool subclass_of(Class* self, Class* other) { return is_subclass(self, other); }
bool instances_respond(Class* self, Selector* selector) {
  return selector && lookup(self, selector);
}
bool class_conforms_to(Class* self, Protocol* protocol) { return class_conforms(self, protocol); }
Imp instance_method_for(Class* self, Selector* selector) { return lookup(self, selector); }
ns::MethodSignature* instance_signature_for(Class* self, Selector* selector) {
  return signature_in(self, selector);
}
void initialize(Class*) {}
bool do_not_resolve(Class*, Selector*) { return false; }

} // namespace
} // namespace objc

template <>
inline constexpr std::string_view objc::encoding<objc::Imp> = "^?";

namespace objc {

OBJC_DEFINE_CLASS_WITH(
    Object, "NSObject", nullptr,
    .methods =
        {
            method<&self_of>("init"),
            method<&self_of>("self"),
            method<&bessemer_objc_root_retain>("retain"),
            method<&bessemer_objc_root_release>("release"),
            method<&bessemer_objc_root_autorelease>("autorelease"),
            method<&object_getRetainCount_np>("retainCount"),
            method<&dealloc>("dealloc"),
            method<&null_pointer>("zone"),
            method<&class_of>("class"),
            method<&superclass_of>("superclass"),
            method<&is_kind_of>("isKindOfClass:"),
            method<&is_member_of>("isMemberOfClass:"),
            method<&conforms>("conformsToProtocol:"),
            method<&no>("isProxy"),
            method<&pointer_hash>("hash"),
            method<&pointer_equal>("isEqual:"),
            method<&describe>("description"),
            method<&debug_description>("debugDescription"),
            method<&copy>("copy"),
            method<&mutable_copy>("mutableCopy"),
            method<&perform>("performSelector:"),
            method<&perform_with>("performSelector:withObject:"),
            method<&perform_with_two>("performSelector:withObject:withObject:"),
            method<&instance_responds>("respondsToSelector:"),
            method<&method_for>("methodForSelector:"),
            method<&signature_for>("methodSignatureForSelector:"),
            method<&does_not_recognize>("doesNotRecognizeSelector:"),
        },
    .class_methods =
        {
            method<&alloc>("alloc"),
            method<&alloc_with_zone>("allocWithZone:"),
            method<&make_new>("new"),
            method<&class_self>("class"),
            method<&class_superclass>("superclass"),
            method<&class_self>("retain"),
            method<&keep>("release"),
            method<&class_self>("autorelease"),
            method<&for_ever>("retainCount"),
            method<&class_self>("copy"),
            method<&class_self>("mutableCopy"),
            method<&subclass_of>("isSubclassOfClass:"),
            method<&instances_respond>("instancesRespondToSelector:"),
            method<&class_conforms_to>("conformsToProtocol:"),
            method<&instance_method_for>("instanceMethodForSelector:"),
            method<&instance_signature_for>("instanceMethodSignatureForSelector:"),
            method<&initialize>("initialize"),
            method<&do_not_resolve>("resolveInstanceMethod:"),
            method<&do_not_resolve>("resolveClassMethod:"),
        },
    .protocols = {"NSObject"});

} // namespace objc

namespace ns {

bool is_equal(Object* a, Object* b) {
  return a == b || (a && b && objc::send<bool, "isEqual:">(a, b));
}

UInteger hash_of(Object* object) { return objc::send<UInteger, "hash">(object); }

String* description_of(Object* object) {
  return object ? objc::send<String*, "description">(object) : literal<"(null)">();
}

/// What objc_getProtocol gives, as an object.
struct ProtocolObject {
  OBJC_CLASS(ProtocolObject, "Protocol");
};

namespace {

Object* keep(Object* self) { return self; }
void ignore(Object*) {}
const char* name_of(Object* self) { return reinterpret_cast<objc::Protocol*>(self)->name; }
bool equal(Object* self, Object* other) {
  return self == other || (objc::class_of(other) == objc::class_of(self) &&
                           !std::strcmp(name_of(self), name_of(other)));
}
String* describe(Object* self) { return autoreleased_string(name_of(self)); }

} // namespace

OBJC_DEFINE_FOREIGN_CLASS(ProtocolObject, "Protocol", objc::Object,
                          .methods =
                              {
                                  objc::method<&keep>("retain"),
                                  objc::method<&ignore>("release"),
                                  objc::method<&keep>("autorelease"),
                                  objc::method<&name_of>("name"),
                                  objc::method<&equal>("isEqual:"),
                                  objc::method<&describe>("description"),
                              },
                          .info = objc::kClassForeignLayout);

} // namespace ns
