// Modules linked together, each with its own state (globals, native state). Making one binds
// imports and runs every module's __init; ending one runs __deinit in reverse.
//
// Threads: a context may be called from several threads at once as long as no two running calls
// touch a global that one of them writes; whether a program keeps state is the program's nature.
// Contexts are cheap (modules are shared), so a context for each thread is always right.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/module.h"
#include "vm/value.h"

namespace bessemer::vm {

class Context;
class Function;
struct CallTarget;

Result<void> call(const Function& function, std::span<const Value> arguments,
                  std::span<Value> results);

// A function in a context, ready to be called. Lives as long as its context.
class Function {
public:
  Function() = default;
  explicit operator bool() const { return context_ != nullptr; }
  const Module& module() const { return *module_; }
  std::string_view name() const { return export_->name; }
  const Signature& signature() const { return *export_->signature; }
  std::span<const Attribute> attributes() const { return export_->attributes; }
  std::string_view attribute(std::string_view key) const {
    return findAttribute(export_->attributes, key);
  }
  // Whether the last two arguments are a wait and a signal fence (iree.abi.model = coarse-fences).
  bool usesFences() const { return attribute("iree.abi.model") == "coarse-fences"; }

private:
  friend class Context;
  friend class Invocation;
  friend Result<void> call(const Function&, std::span<const Value>, std::span<Value>);
  Context* context_ = nullptr;
  const Module* module_ = nullptr;
  const Export* export_ = nullptr;
  const CallTarget* target_ = nullptr;
};

// Sees operations of modules that were loaded with Options::trace.
class Tracer {
public:
  virtual ~Tracer() = default;
  // `text`: "[module.function+pc] operation", as the disassembler prints it.
  virtual void operation(std::string_view text) = 0;
};

class Context {
public:
  // Modules in order: a module can import only from those before it.
  static Result<std::unique_ptr<Context>>
  create(std::span<const std::shared_ptr<const Module>> modules, Tracer* tracer = nullptr);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  virtual ~Context() = default;

  virtual std::span<const std::shared_ptr<const Module>> modules() const = 0;
  // "module.function", or the name of a function of the last module.
  virtual Result<Function> lookup(std::string_view name) = 0;
  virtual Function exportAt(size_t module, size_t index) = 0;

protected:
  Context() = default;
  static Function makeFunction(Context& context, const Module& module, const Export& exported,
                               const CallTarget& target);
};

} // namespace bessemer::vm
