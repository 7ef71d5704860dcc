// What modules of one process share: the types that they can name.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "vm/ref.h"
#include "vm/status.h"

namespace bessemer::vm {

// Thread-safe. Outlives the modules loaded with it.
class Instance {
public:
  // Knows vm.buffer and vm.list.
  Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // `type` must live as long as the instance. Registering the same one again does nothing.
  Result<void> registerType(const RefType& type);
  // `name` without '!'; null when unknown. Every "vm.list<...>" is vm.list.
  const RefType* findType(std::string_view name) const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, const RefType*, std::less<>> types_;
};

} // namespace bessemer::vm
