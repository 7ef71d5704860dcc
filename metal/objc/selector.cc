// Selector names and their indices.
#include <cstring>
#include <deque>
#include <unordered_map>

#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

struct SelectorTable {
  std::mutex mutex;
  std::unordered_map<std::string_view, uint64_t> indices; // keys live in `entries` or in images
  struct Entry {
    std::string_view name;
    Selector untyped;
  };
  std::deque<Entry> entries{{}}; // index 0 is nobody's

  uint64_t intern(std::string_view name, bool name_is_static) {
    if (auto found = indices.find(name); found != indices.end())
      return found->second;
    if (!name_is_static) {
      char* copy = new char[name.size() + 1];
      std::memcpy(copy, name.data(), name.size());
      copy[name.size()] = 0;
      name = {copy, name.size()};
    }
    uint64_t index = entries.size();
    entries.push_back({name, {{.index = index}, nullptr}});
    indices.emplace(name, index);
    return index;
  }
};

// Never destroyed: clients send messages from their own static destructors.
SelectorTable& table() {
  static auto& instance = *new SelectorTable;
  return instance;
}

} // namespace

uint64_t selector_index(std::string_view name) {
  std::lock_guard lock(table().mutex);
  return table().intern(name, false);
}

void register_selector(Selector* selector) {
  std::lock_guard lock(table().mutex);
  // An image that is unloaded would take the name with it; images of clients rarely are, but
  // plug-ins may be, hence the copy.
  selector->index = table().intern(selector->name, false);
}

extern "C" {

Selector* sel_registerName(const char* name) {
  if (!name)
    return nullptr;
  std::lock_guard lock(table().mutex);
  return &table().entries[table().intern(name, false)].untyped;
}

Selector* sel_getUid(const char* name) { return sel_registerName(name); }

Selector* sel_registerTypedName_np(const char* name, const char*) { return sel_registerName(name); }

const char* sel_getName(const Selector* selector) {
  if (!selector)
    return "<null selector>";
  std::lock_guard lock(table().mutex);
  if (selector->index >= table().entries.size())
    return "<invalid selector>";
  return table().entries[selector->index].name.data();
}

const char* sel_getType_np(const Selector* selector) { return selector->types; }

bool sel_isEqual(const Selector* a, const Selector* b) {
  return a == b || (a && b && same_selector(a, b));
}

bool sel_isMapped(const Selector* selector) { return selector != nullptr; }
}

} // namespace objc
