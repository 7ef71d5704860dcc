// The implementation of Context: states of the modules and the targets that calls reach.
#pragma once

#include <atomic>
#include <deque>
#include <map>

#include "vm/context.h"
#include "vm/interpreter/execution.h"
#include "vm/loaded_module.h"

namespace bessemer::vm {

class LinkedContext final : public Context {
public:
  static Result<std::unique_ptr<LinkedContext>>
  create(std::span<const std::shared_ptr<const Module>> modules, Tracer* tracer);
  ~LinkedContext() override;

  std::span<const std::shared_ptr<const Module>> modules() const override { return modules_; }
  Result<Function> lookup(std::string_view name) override;
  Function exportAt(size_t module, size_t index) override;

  // Memory to run a call with, and back. Null when there is none.
  std::unique_ptr<interpreter::Execution> acquire();
  void release(std::unique_ptr<interpreter::Execution> execution);

private:
  struct Linked {
    const Module* module = nullptr;
    std::unique_ptr<NativeState> native;
    std::unique_ptr<interpreter::ModuleState> bytecode;
    std::vector<CallTarget> targets; // of the exports
    bool initialized = false;
  };

  LinkedContext() = default;
  Result<void> link(const std::shared_ptr<const Module>& module);
  Result<void> checkDependencies(const Module& module) const;
  Result<void> bindImports(Linked& linked);
  Result<void> runIfExported(size_t module, std::string_view name);
  Linked* find(std::string_view module);

  std::vector<std::shared_ptr<const Module>> modules_;
  std::deque<Linked> linked_;
  Tracer* tracer_ = nullptr;
  // One kept for the next call: calls one after another allocate nothing.
  std::atomic<interpreter::Execution*> spare_ = nullptr;
};

} // namespace bessemer::vm
