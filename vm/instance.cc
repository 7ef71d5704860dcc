#include "vm/instance.h"

#include "vm/buffer.h"
#include "vm/list.h"

namespace bessemer::vm {

Instance::Instance() {
  for (const RefType* type : {&RefTraits<Buffer>::type(), &RefTraits<List>::type()})
    types_.emplace(type->name, type);
}

Result<void> Instance::registerType(const RefType& type) {
  std::lock_guard lock(mutex_);
  auto [entry, added] = types_.emplace(type.name, &type);
  if (!added && entry->second != &type)
    return fail(StatusCode::AlreadyExists, "another type is registered as ", type.name);
  return {};
}

const RefType* Instance::findType(std::string_view name) const {
  if (name.starts_with("vm.list<"))
    name = "vm.list";
  std::lock_guard lock(mutex_);
  auto entry = types_.find(name);
  return entry == types_.end() ? nullptr : entry->second;
}

} // namespace bessemer::vm
