// Loads a relocatable ELF object, as the code generator writes it, into executable memory. The
// object may come from a damaged file: everything is checked, and nothing is writable and
// executable at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "metal/cpu/executor/error.h"

namespace bessemer::metal::cpu {

class DebuggerEntry;

// Code in memory; goes when this goes.
class LoadedObject {
public:
  LoadedObject();
  LoadedObject(LoadedObject&& other) noexcept;
  LoadedObject& operator=(LoadedObject&& other) noexcept;
  ~LoadedObject();

  // `entry` is the name of a function of the object. `name` is for error messages.
  static Expected<LoadedObject> load(std::span<const uint8_t> object, std::string_view entry,
                                     std::string_view name);

  void* entry() const { return entry_; }
  // What was mapped, for tests.
  std::span<const uint8_t> memory() const { return {static_cast<const uint8_t*>(memory_), size_}; }

private:
  void* memory_ = nullptr;
  size_t size_ = 0;
  void* entry_ = nullptr;
  std::unique_ptr<DebuggerEntry> debugger_entry_;
};

} // namespace bessemer::metal::cpu
