// Loads arbitrary bytes as a module, and uses what loads: disassembly, source locations, a context.
#include <cstddef>
#include <cstdint>

#include "vm/bytecode_module.h"
#include "vm/context.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bessemer::vm;
  static Instance instance;
  static const bool registered = [] {
    static const RefType types[] = {
        {"hal.allocator", nullptr, nullptr},   {"hal.buffer", nullptr, nullptr},
        {"hal.buffer_view", nullptr, nullptr}, {"hal.command_buffer", nullptr, nullptr},
        {"hal.device", nullptr, nullptr},      {"hal.executable", nullptr, nullptr},
        {"hal.fence", nullptr, nullptr},       {"hal.file", nullptr, nullptr}};
    for (const RefType& type : types)
      (void)instance.registerType(type);
    return true;
  }();
  (void)registered;
  auto module =
      BytecodeModule::load(instance, {reinterpret_cast<const std::byte*>(data), size}, nullptr, {});
  if (!module)
    return 0;
  for (size_t i = 0; i < (*module)->functionCount(); ++i) {
    (void)(*module)->disassemble(i);
    for (uint32_t offset : {0u, 1u, 100u})
      (void)(*module)->sourceLocation(i, offset);
  }
  for (size_t i = 0; i < (*module)->rodataCount(); ++i)
    (void)(*module)->rodata(i);
  // Linking, but no running: a good program may run for ever.
  if ((*module)->findExport("__init") || (*module)->findExport("__deinit"))
    return 0;
  std::shared_ptr<const Module> modules[] = {*module};
  (void)Context::create(modules);
  return 0;
}
