// What a module shows: names, imports, exports. Its code is bytecode (bytecode_module.h) or C++
// (native_module.h); its state lives in a Context.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "vm/signature.h"

namespace bessemer::vm {

class BytecodeModule;
class NativeModule;

struct Attribute {
  std::string_view key;
  std::string_view value;
};

struct Dependency {
  std::string_view name;
  uint32_t minimum_version = 0;
  bool optional = false;
};

struct Import {
  std::string_view full_name; // "hal.buffer.load": module up to the first dot, then the function
  const Signature* signature = nullptr;
  bool optional = false;
};

struct Export {
  std::string_view name;
  const Signature* signature = nullptr;
  std::span<const Attribute> attributes; // "iree.abi.declaration", "iree.abi.model", ...
  uint32_t function = 0;                 // the module's own ordinal of the code behind it
};

// The value of `key`, or empty.
std::string_view findAttribute(std::span<const Attribute> attributes, std::string_view key);

// Immutable once made, so any number of contexts and threads may share one.
class Module {
public:
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  virtual std::string_view name() const = 0;
  virtual uint32_t version() const = 0;
  virtual std::span<const Attribute> attributes() const { return {}; }
  virtual std::span<const Dependency> dependencies() const { return {}; }
  virtual std::span<const Import> imports() const { return {}; }
  virtual std::span<const Export> exports() const = 0;
  std::optional<uint32_t> findExport(std::string_view name) const;

  // This module as one of its two kinds, or null.
  virtual const BytecodeModule* asBytecode() const { return nullptr; }
  virtual const NativeModule* asNative() const { return nullptr; }

protected:
  Module() = default;
};

} // namespace bessemer::vm
