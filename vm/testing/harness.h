// Loads a hand-made module and calls its functions.
#pragma once

#include <memory>
#include <vector>

#include "vm/bytecode_module.h"
#include "vm/invocation.h"
#include "vm/testing/assembler.h"

namespace bessemer::vm::testing {

// Copies the bytes, so that AddressSanitizer sees what is read past them.
inline Result<std::shared_ptr<BytecodeModule>>
load(const Instance& instance, std::span<const std::byte> bytes, bool trace = false) {
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return BytecodeModule::load(instance, {copy.get(), bytes.size()}, copy,
                              {.origin = "test", .trace = trace});
}

// A context of the native modules given and one hand-made module. Ends the process when it does not
// load: tests of failures use load() themselves.
class Program {
public:
  explicit Program(const ModuleBuilder& module,
                   std::vector<std::shared_ptr<const Module>> natives = {},
                   Tracer* tracer = nullptr) {
    auto loaded = load(instance_, module.finish(), tracer != nullptr);
    if (!loaded)
      abandon(loaded.error());
    natives.push_back(*loaded);
    auto context = Context::create(natives, tracer);
    if (!context)
      abandon(context.error());
    context_ = *std::move(context);
  }

  Result<std::vector<Value>> call(std::string_view name, std::vector<Value> arguments = {}) {
    std::vector<Value> results;
    BESSEMER_ASSIGN_OR_RETURN(Function function, context_->lookup(name));
    BESSEMER_RETURN_IF_ERROR(vm::call(function, arguments, results));
    return results;
  }
  Context& context() { return *context_; }
  Instance& instance() { return instance_; }

private:
  [[noreturn]] static void abandon(const Error& error) {
    std::fprintf(stderr, "the test's module does not load: %s\n", error.toString().c_str());
    std::abort();
  }

  Instance instance_;
  std::unique_ptr<Context> context_;
};

} // namespace bessemer::vm::testing
