// The implementation of BytecodeModule: tables, threaded code, and the memory both look into.
#pragma once

#include "vm/bytecode/debug_database.h"
#include "vm/bytecode/program.h"
#include "vm/bytecode_module.h"
#include "vm/interpreter/code.h"

namespace bessemer::vm {

class LoadedModule final : public BytecodeModule {
public:
  static Result<std::shared_ptr<LoadedModule>> load(const Instance& instance,
                                                    std::span<const std::byte> bytes,
                                                    std::shared_ptr<const void> owner,
                                                    const Options& options);

  std::string_view name() const override { return program_.name; }
  uint32_t version() const override { return program_.version; }
  std::span<const Attribute> attributes() const override { return program_.attributes; }
  std::span<const Dependency> dependencies() const override { return program_.dependencies; }
  std::span<const Import> imports() const override { return program_.imports; }
  std::span<const Export> exports() const override { return program_.exports; }
  size_t rodataCount() const override { return program_.rodata.size(); }
  std::span<const std::byte> rodata(size_t index) const override {
    return program_.rodata[index]->bytes();
  }
  size_t functionCount() const override { return program_.functions.size(); }
  std::string_view functionName(size_t ordinal) const override {
    return program_.functions[ordinal].name;
  }
  Result<std::string> disassemble(size_t ordinal) const override;
  std::string sourceLocation(size_t ordinal, uint32_t offset) const override {
    return debug_.find(ordinal, functionName(ordinal), offset);
  }

  const bytecode::Program& program() const { return program_; }
  const interpreter::FunctionCode& code(size_t ordinal) const { return *code_[ordinal]; }

private:
  LoadedModule() = default;

  std::shared_ptr<const void> owner_; // keeps the container's bytes
  bytecode::Program program_;
  bytecode::DebugDatabase debug_;
  std::vector<std::unique_ptr<interpreter::FunctionCode>> code_;
};

} // namespace bessemer::vm
