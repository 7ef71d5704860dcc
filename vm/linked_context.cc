#include "vm/linked_context.h"

#include <algorithm>

#include "vm/invocation.h"

namespace bessemer::vm {

Result<std::unique_ptr<Context>>
Context::create(std::span<const std::shared_ptr<const Module>> modules, Tracer* tracer) {
  return LinkedContext::create(modules, tracer);
}

Function Context::makeFunction(Context& context, const Module& module, const Export& exported,
                               const CallTarget& target) {
  Function function;
  function.context_ = &context;
  function.module_ = &module;
  function.export_ = &exported;
  function.target_ = &target;
  return function;
}

Result<std::unique_ptr<LinkedContext>>
LinkedContext::create(std::span<const std::shared_ptr<const Module>> modules, Tracer* tracer) {
  std::unique_ptr<LinkedContext> context(new LinkedContext());
  context->tracer_ = tracer;
  for (const auto& module : modules) {
    auto linked = context->link(module);
    if (!linked)
      return std::unexpected(std::move(linked.error()).prefix(concat("module ", module->name())));
  }
  return context;
}

LinkedContext::~LinkedContext() {
  // __deinit cannot report a failure to anyone.
  for (size_t i = linked_.size(); i-- > 0;)
    if (linked_[i].initialized)
      (void)runIfExported(i, "__deinit");
  // A state may hold objects that a module before it knows.
  while (!linked_.empty())
    linked_.pop_back();
  delete spare_.load();
}

Result<void> LinkedContext::link(const std::shared_ptr<const Module>& module) {
  if (find(module->name()))
    return fail(StatusCode::AlreadyExists, "a module of this name is already in the context");
  BESSEMER_RETURN_IF_ERROR(checkDependencies(*module));
  Linked linked;
  linked.module = module.get();
  if (const NativeModule* native = module->asNative()) {
    BESSEMER_ASSIGN_OR_RETURN(linked.native, native->createState());
    for (const Export& exported : native->exports())
      linked.targets.push_back({.native = native->entry(exported.function),
                                .native_state = linked.native.get(),
                                .signature = exported.signature});
  } else {
    const auto& loaded = static_cast<const LoadedModule&>(*module->asBytecode());
    const bytecode::Program& program = loaded.program();
    linked.bytecode = std::make_unique<interpreter::ModuleState>();
    linked.bytecode->module = &loaded;
    linked.bytecode->globals = std::make_unique<std::byte[]>(program.global_bytes);
    linked.bytecode->global_bytes = program.global_bytes;
    linked.bytecode->global_refs.resize(program.global_refs);
    for (const Export& exported : program.exports)
      linked.targets.push_back({.code = &loaded.code(exported.function),
                                .state = linked.bytecode.get(),
                                .signature = exported.signature});
    BESSEMER_RETURN_IF_ERROR(bindImports(linked));
  }
  modules_.push_back(module);
  linked_.push_back(std::move(linked));
  BESSEMER_RETURN_IF_ERROR(runIfExported(linked_.size() - 1, "__init"));
  linked_.back().initialized = true;
  return {};
}

LinkedContext::Linked* LinkedContext::find(std::string_view module) {
  auto found = std::ranges::find_if(
      linked_, [&](const Linked& linked) { return linked.module->name() == module; });
  return found == linked_.end() ? nullptr : &*found;
}

Result<void> LinkedContext::checkDependencies(const Module& module) const {
  for (const Dependency& dependency : module.dependencies()) {
    auto found = std::ranges::find_if(
        modules_, [&](const auto& other) { return other->name() == dependency.name; });
    if (found == modules_.end()) {
      if (dependency.optional)
        continue;
      return fail(StatusCode::NotFound, "needs module ", dependency.name,
                  ", which is not in the context");
    }
    if ((*found)->version() < dependency.minimum_version && !dependency.optional)
      return fail(StatusCode::NotFound, "needs module ", dependency.name, " of version ",
                  dependency.minimum_version, " or later; the one here has version ",
                  (*found)->version());
  }
  return {};
}

Result<void> LinkedContext::bindImports(Linked& linked) {
  for (const Import& import : linked.module->imports()) {
    size_t dot = import.full_name.find('.');
    Linked* provider = find(import.full_name.substr(0, dot));
    std::optional<uint32_t> index;
    if (provider)
      index = provider->module->findExport(import.full_name.substr(dot + 1));
    if (!index) {
      if (!import.optional)
        return fail(StatusCode::NotFound, "needs the function ", import.full_name,
                    provider ? ", which that module does not have"
                             : ", whose module is not in the context");
      linked.bytecode->imports.push_back({});
      continue;
    }
    const CallTarget& target = provider->targets[*index];
    if (target.signature->text != import.signature->text)
      return fail(StatusCode::Internal, "calls ", import.full_name, " as ", import.signature->text,
                  ", but it is ", target.signature->text);
    linked.bytecode->imports.push_back(target);
  }
  return {};
}

Result<void> LinkedContext::runIfExported(size_t module, std::string_view name) {
  auto index = linked_[module].module->findExport(name);
  if (!index)
    return {};
  auto result = call(exportAt(module, *index), {}, std::span<Value>());
  if (!result)
    return std::unexpected(std::move(result.error()).prefix(name));
  return {};
}

Result<Function> LinkedContext::lookup(std::string_view name) {
  if (linked_.empty())
    return fail(StatusCode::NotFound, "the context is empty");
  // A function's own name may hold dots; a module's does not.
  size_t last = linked_.size() - 1;
  if (auto index = linked_[last].module->findExport(name))
    return exportAt(last, *index);
  size_t dot = name.find('.');
  if (dot != std::string_view::npos)
    for (size_t i = 0; i < linked_.size(); ++i)
      if (linked_[i].module->name() == name.substr(0, dot))
        if (auto index = linked_[i].module->findExport(name.substr(dot + 1)))
          return exportAt(i, *index);
  return fail(StatusCode::NotFound, "there is no function ", name);
}

Function LinkedContext::exportAt(size_t module, size_t index) {
  Linked& linked = linked_[module];
  return makeFunction(*this, *linked.module, linked.module->exports()[index],
                      linked.targets[index]);
}

std::unique_ptr<interpreter::Execution> LinkedContext::acquire() {
  if (interpreter::Execution* spare = spare_.exchange(nullptr, std::memory_order_acquire))
    return std::unique_ptr<interpreter::Execution>(spare);
  auto execution = interpreter::Execution::create();
  if (execution)
    execution->tracer = tracer_;
  return execution;
}

void LinkedContext::release(std::unique_ptr<interpreter::Execution> execution) {
  delete spare_.exchange(execution.release(), std::memory_order_release);
}

} // namespace bessemer::vm
