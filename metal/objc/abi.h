// The structures that clang emits for `-fobjc-runtime=gnustep-2.2`, field by field in its order.
// The runtime fills in or rewrites some of them when an image is loaded; those say so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace objc {

struct Class;
struct Object;
struct ProtocolList;
struct PropertyList;

// A method's code; cast to the method's own type before it is called.
using Imp = void (*)();

// `SEL` points to one of these. Two selectors with one name may have different addresses (each
// image has its own, and one for each type encoding) but always have the same index.
struct Selector {
  union {
    const char* name; // as compiled, until the image is loaded
    uint64_t index;   // afterwards; never 0
  };
  const char* types; // null when untyped
};

struct Method {
  Imp imp;
  Selector* selector;
  const char* types;
};

// `entry_size` is the distance between entries: code compiled later may have longer ones.
struct MethodList {
  MethodList* next;
  int count;
  size_t entry_size;
  Method first[];

  Method& at(int i) {
    return *reinterpret_cast<Method*>(reinterpret_cast<char*>(first) + i * entry_size);
  }
};

struct Ivar {
  const char* name;
  const char* type;
  int* offset; // written when the class is linked, since only then is the superclass's size known
  uint32_t size;
  uint32_t flags; // bits 0-1 ownership, bits 3-8 log2 of the alignment

  size_t alignment() const { return size_t{1} << (flags >> 3 & 63); }
};

struct IvarList {
  int count;
  size_t entry_size;
  Ivar first[];

  Ivar& at(int i) {
    return *reinterpret_cast<Ivar*>(reinterpret_cast<char*>(first) + i * entry_size);
  }
};

struct Property {
  const char* name;
  const char* attributes;
  const char* type;
  Selector* getter;
  Selector* setter;
};

struct PropertyList {
  int count;
  int entry_size;
  PropertyList* next;
  Property first[];

  Property& at(int i) {
    return *reinterpret_cast<Property*>(reinterpret_cast<char*>(first) + i * entry_size);
  }
};

struct MethodDescription {
  Selector* selector;
  const char* types;
};

struct MethodDescriptionList {
  int count;
  int entry_size;
  MethodDescription first[];

  MethodDescription& at(int i) {
    return *reinterpret_cast<MethodDescription*>(reinterpret_cast<char*>(first) + i * entry_size);
  }
};

struct Protocol {
  Class* isa; // written at load
  const char* name;
  ProtocolList* protocols;
  MethodDescriptionList* instance_methods;
  MethodDescriptionList* class_methods;
  MethodDescriptionList* optional_instance_methods;
  MethodDescriptionList* optional_class_methods;
  PropertyList* properties;
  PropertyList* optional_properties;
  PropertyList* class_properties;
  PropertyList* optional_class_properties;
};

struct ProtocolList {
  ProtocolList* next;
  size_t count;
  Protocol* first[];
};

struct NativeClass;

// Bits of Class::info.
enum : unsigned long {
  kClassIsMeta = 1ul << 0,
  // The rest are this runtime's.
  kClassLinked = 1ul << 20,
  kClassInitialized = 1ul << 21,      // +initialize has run, here and in the superclasses
  kClassPlainReferences = 1ul << 22,  // nothing in the chain overrides retain, release, autorelease
  kClassOverridesDealloc = 1ul << 23, // some class in the chain below NSObject has -dealloc
  kClassMadeAtRunTime = 1ul << 24,
  kClassForeignLayout = 1ul << 25, // instances are not laid out as Object: literals, blocks
  kClassIsBlock = 1ul << 26,
};

struct Class {
  Class* isa; // the metaclass
  Class* superclass;
  const char* name;
  long version;
  unsigned long info;
  // As compiled: minus the bytes of the class's own ivars. Once linked: bytes of an instance.
  long instance_size;
  IvarList* ivars;
  MethodList* methods;
  Imp* dispatch; // one entry for each selector index, null: look it up; message_*.S reads it here
  Class* first_subclass;
  void* cxx_construct; // once linked: Imp of the class's own .cxx_construct, or null
  void* cxx_destruct;  // likewise .cxx_destruct
  Class* next_sibling;
  ProtocolList* protocols;
  const NativeClass* native; // the nearest C++ class in the chain (extra_data in clang's layout)
  long abi_version;
  PropertyList* properties;

  bool is_meta() const { return info & kClassIsMeta; }
};
static_assert(offsetof(Class, dispatch) == 64, "message_*.S reads the table at this offset");

struct Category {
  const char* name;
  const char* class_name;
  MethodList* instance_methods;
  MethodList* class_methods;
  ProtocolList* protocols;
  PropertyList* properties;
  PropertyList* class_properties;
};

struct ClassAlias {
  const char* name;
  Class* cls;
};

// What a client image passes to __objc_load: the bounds of its sections.
struct LoadInfo {
  uint64_t version; // all ones once loaded
  Selector *selectors_begin, *selectors_end;
  Class **classes_begin, **classes_end;
  Class **class_refs_begin, **class_refs_end;
  Category *categories_begin, *categories_end;
  Protocol *protocols_begin, *protocols_end;
  Protocol **protocol_refs_begin, **protocol_refs_end;
  ClassAlias *aliases_begin, *aliases_end;
  void *constant_strings_begin, *constant_strings_end;
};

// The C struct that a message to super starts from.
struct Super {
  Object* receiver;
  Class* superclass;
};

} // namespace objc
