// Protocols by name, and who conforms to which.
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "metal/objc/class.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

using Table = std::unordered_map<std::string_view, Protocol*>;

Table& table() {
  static auto& instance = *new Table;
  return instance;
}

} // namespace

void register_protocol(Protocol* protocol) {
  std::lock_guard lock(runtime_lock());
  protocol->isa = find_class("Protocol");
  auto [existing, is_new] = table().try_emplace(protocol->name, protocol);
  // A definition with methods completes what was known by its name only.
  if (!is_new && !existing->second->instance_methods && !existing->second->protocols)
    *existing->second = *protocol;
}

Protocol* find_or_make_protocol(const char* name) {
  std::lock_guard lock(runtime_lock());
  Protocol*& protocol = table()[name];
  if (!protocol) {
    protocol = static_cast<Protocol*>(std::calloc(1, sizeof(Protocol)));
    protocol->name = name;
    protocol->isa = find_class("Protocol");
  }
  return protocol;
}

bool protocol_conforms(const Protocol* protocol, const Protocol* other) {
  if (!protocol || !other)
    return false;
  if (protocol == other || !std::strcmp(protocol->name, other->name))
    return true;
  for (ProtocolList* list = protocol->protocols; list; list = list->next)
    for (size_t i = 0; i < list->count; ++i)
      if (protocol_conforms(list->first[i], other))
        return true;
  return false;
}

bool class_conforms(const Class* cls, const Protocol* protocol) {
  std::lock_guard lock(runtime_lock());
  for (; cls; cls = cls->superclass)
    for (ProtocolList* list = cls->protocols; list; list = list->next)
      for (size_t i = 0; i < list->count; ++i)
        if (protocol_conforms(list->first[i], protocol))
          return true;
  return false;
}

extern "C" {

Protocol* objc_getProtocol(const char* name) {
  std::lock_guard lock(runtime_lock());
  auto found = name ? table().find(name) : table().end();
  return found == table().end() ? nullptr : found->second;
}

const char* protocol_getName(const Protocol* protocol) {
  return protocol ? protocol->name : nullptr;
}

bool protocol_conformsToProtocol(const Protocol* protocol, const Protocol* other) {
  std::lock_guard lock(runtime_lock());
  return protocol_conforms(protocol, other);
}

bool protocol_isEqual(const Protocol* a, const Protocol* b) {
  return a == b || (a && b && !std::strcmp(a->name, b->name));
}

MethodDescription protocol_getMethodDescription(const Protocol* protocol, const Selector* selector,
                                                bool required, bool instance) {
  if (!protocol || !selector)
    return {};
  MethodDescriptionList* list =
      required
          ? (instance ? protocol->instance_methods : protocol->class_methods)
          : (instance ? protocol->optional_instance_methods : protocol->optional_class_methods);
  for (int i = 0; list && i < list->count; ++i)
    if (same_selector(list->at(i).selector, selector))
      return list->at(i);
  for (ProtocolList* parents = protocol->protocols; parents; parents = parents->next)
    for (size_t i = 0; i < parents->count; ++i)
      if (auto found =
              protocol_getMethodDescription(parents->first[i], selector, required, instance);
          found.selector)
        return found;
  return {};
}

bool class_conformsToProtocol(const Class* cls, const Protocol* protocol) {
  if (!cls || !protocol)
    return false;
  std::lock_guard lock(runtime_lock());
  for (ProtocolList* list = cls->protocols; list; list = list->next)
    for (size_t i = 0; i < list->count; ++i)
      if (protocol_conforms(list->first[i], protocol))
        return true;
  return false;
}

bool class_addProtocol(Class* cls, Protocol* protocol) {
  if (!cls || !protocol || class_conformsToProtocol(cls, protocol))
    return false;
  std::lock_guard lock(runtime_lock());
  auto* list = static_cast<ProtocolList*>(std::calloc(1, sizeof(ProtocolList) + sizeof(Protocol*)));
  list->count = 1;
  list->first[0] = protocol;
  list->next = cls->protocols;
  cls->protocols = list;
  return true;
}
}

} // namespace objc
