// A compiled module (.vmfb): bytecode 17.x in a FlatBuffer, alone or as the first member of a zip.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "vm/instance.h"
#include "vm/module.h"

namespace bessemer::vm {

class BytecodeModule : public Module {
public:
  struct Options {
    // Text for error messages: the path, or what else tells people where the bytes came from.
    std::string origin = "module";
    // Makes code that reports every operation to the tracer of the context (Context::setTracer).
    bool trace = false;
  };

  // Maps the file; its pages stay mapped as long as the module or any of its constants is in use.
  static Result<std::shared_ptr<BytecodeModule>> loadFile(const Instance& instance,
                                                          const std::string& path);
  static Result<std::shared_ptr<BytecodeModule>> loadFile(const Instance& instance,
                                                          const std::string& path, Options options);
  // `owner` keeps `bytes` alive. Bytes should be 16-byte aligned; others are copied.
  static Result<std::shared_ptr<BytecodeModule>> load(const Instance& instance,
                                                      std::span<const std::byte> bytes,
                                                      std::shared_ptr<const void> owner,
                                                      Options options);

  const BytecodeModule* asBytecode() const final { return this; }
  // Size of what a module file holds, for inspection.
  virtual size_t rodataCount() const = 0;
  virtual std::span<const std::byte> rodata(size_t index) const = 0;
  virtual size_t functionCount() const = 0;
  // Name of a function by ordinal: its export or debug name, else "" .
  virtual std::string_view functionName(size_t ordinal) const = 0;
  // One function as text, an operation a line: for inspection and for traces.
  virtual Result<std::string> disassemble(size_t ordinal) const = 0;
  // "file:line:column" of the model for a byte offset in a function, from the debug database;
  // several places, innermost first, are joined by " <- ". Empty when unknown.
  virtual std::string sourceLocation(size_t ordinal, uint32_t offset) const = 0;
};

} // namespace bessemer::vm
