#include "vm/loaded_module.h"

#include <cstring>

#include "module_generated.h"
#include "vm/bytecode/disassembler.h"
#include "vm/bytecode/verifier.h"
#include "vm/file_mapping.h"
#include "vm/interpreter/translator.h"

namespace bessemer::vm {

Result<std::shared_ptr<LoadedModule>> LoadedModule::load(const Instance& instance,
                                                         std::span<const std::byte> bytes,
                                                         std::shared_ptr<const void> owner,
                                                         const Options& options) {
  constexpr uintptr_t kAlignment = 16;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment) {
    // operator new[] aligns for every fundamental type.
    std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    bytes = {copy.get(), bytes.size()};
    owner = std::move(copy);
  }
  std::shared_ptr<LoadedModule> module(new LoadedModule());
  module->owner_ = owner;
  auto load = [&]() -> Result<void> {
    BESSEMER_ASSIGN_OR_RETURN(Container container, Container::parse(bytes));
    BESSEMER_ASSIGN_OR_RETURN(module->program_,
                              bytecode::Program::read(instance, container, owner));
    module->debug_ = bytecode::DebugDatabase(
        fb::GetSizePrefixedBytecodeModuleDef(container.flatbuffer.data())->debug_database());
    for (size_t i = 0; i < module->program_.functions.size(); ++i)
      BESSEMER_RETURN_IF_ERROR(bytecode::verifyFunction(module->program_, i));
    BESSEMER_ASSIGN_OR_RETURN(module->code_,
                              interpreter::translate(module->program_, options.trace));
    return {};
  };
  if (auto loaded = load(); !loaded)
    return std::unexpected(std::move(loaded.error()).prefix(options.origin));
  return module;
}

Result<std::string> LoadedModule::disassemble(size_t ordinal) const {
  return bytecode::disassembleFunction(program_, ordinal);
}

Result<std::shared_ptr<BytecodeModule>> BytecodeModule::load(const Instance& instance,
                                                             std::span<const std::byte> bytes,
                                                             std::shared_ptr<const void> owner,
                                                             Options options) {
  return LoadedModule::load(instance, bytes, std::move(owner), options);
}

Result<std::shared_ptr<BytecodeModule>>
BytecodeModule::loadFile(const Instance& instance, const std::string& path, Options options) {
  BESSEMER_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::open(path));
  std::span<const std::byte> bytes = file->bytes();
  return LoadedModule::load(instance, bytes, std::move(file), options);
}

Result<std::shared_ptr<BytecodeModule>> BytecodeModule::loadFile(const Instance& instance,
                                                                 const std::string& path) {
  return loadFile(instance, path, Options{.origin = path});
}

} // namespace bessemer::vm
