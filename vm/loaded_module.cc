#include "vm/loaded_module.h"

#include <cstring>

#include "module_generated.h"
#include "vm/bytecode/disassembler.h"
#include "vm/bytecode/verifier.h"
#include "vm/file_mapping.h"
#include "vm/interpreter/translator.h"

namespace bessemer::vm {

namespace {

// `bytes` where a FlatBuffer can be read: themselves, or a copy that `owner` keeps from now on as
// well.
std::span<const std::byte> aligned(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void>& owner) {
  constexpr uintptr_t kAlignment = 16;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0)
    return bytes;
  struct Copy {
    std::unique_ptr<std::byte[]> bytes; // operator new[] aligns for every fundamental type
    std::shared_ptr<const void> original;
  };
  auto copy = std::make_shared<Copy>();
  copy->bytes = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  copy->original = std::move(owner);
  std::memcpy(copy->bytes.get(), bytes.data(), bytes.size());
  std::span<const std::byte> result(copy->bytes.get(), bytes.size());
  owner = std::move(copy);
  return result;
}

} // namespace

Result<std::shared_ptr<LoadedModule>> LoadedModule::load(const Instance& instance,
                                                         std::span<const std::byte> bytes,
                                                         std::shared_ptr<const void> owner,
                                                         const Options& options) {
  bytes = aligned(bytes, owner);
  std::shared_ptr<LoadedModule> module(new LoadedModule());
  auto load = [&]() -> Result<void> {
    BESSEMER_ASSIGN_OR_RETURN(Container container, Container::parse(bytes));
    // The compiler pads its archives so that the table is aligned too; other tools need not.
    container.flatbuffer = aligned(container.flatbuffer, owner);
    module->owner_ = owner;
    BESSEMER_ASSIGN_OR_RETURN(module->program_,
                              bytecode::Program::read(instance, container, owner));
    module->debug_ = bytecode::DebugDatabase(
        fb::GetSizePrefixedBytecodeModuleDef(container.flatbuffer.data())->debug_database(),
        module->program_.functions.size());
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
