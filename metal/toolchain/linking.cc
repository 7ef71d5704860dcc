#include "metal/toolchain/linking.h"

#include <map>

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

#include "library_generated.h"
#include "metal/air/module.h"
#include "metal/air/signature.h"
#include "metal/air/simplify.h"
#include "metal/compiler/library_builder.h"

namespace bessemer::toolchain {

namespace {

// Whether a function is called that is none of Metal's own: another module's.
bool has_foreign_calls(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.getName().starts_with("air.") && !function.use_empty())
      return true;
  return false;
}

// One module of all; each function then takes from it what it needs.
llvm::Error join(std::vector<std::unique_ptr<llvm::Module>>& modules) {
  std::string messages;
  llvm::LLVMContext& context = modules[0]->getContext();
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* text) {
        llvm::raw_string_ostream stream(*static_cast<std::string*>(text));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &messages);
  bool failed = false;
  for (size_t i = 1; i < modules.size() && !failed; ++i)
    failed = llvm::Linker::linkModules(*modules[0], std::move(modules[i]));
  context.setDiagnosticHandlerCallBack(nullptr, nullptr);
  if (failed)
    return llvm::createStringError(messages);
  modules.resize(1);
  for (const llvm::Function& function : *modules[0])
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.getName().starts_with("air.") && !function.use_empty())
      return llvm::createStringError("undefined symbol '" + function.getName().str() +
                                     "': no file defines it");
  return llvm::Error::success();
}

// Nobody calls functions of a finished library but through their pipelines.
llvm::Error finish(llvm::Module& module) {
  auto signatures = air::read_signatures(module);
  if (!signatures)
    return signatures.takeError();
  llvm::StringSet<> listed;
  for (const air::Signature& signature : *signatures)
    listed.insert(signature.function->getName());
  bool changed = false;
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasLocalLinkage() ||
        listed.contains(function.getName()))
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (!function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    changed = true;
  }
  if (changed)
    air::simplify(module);
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::string> link(std::vector<std::unique_ptr<llvm::Module>> modules) {
  std::map<std::string, std::string> owners;
  bool foreign = false;
  for (const auto& module : modules) {
    auto signatures = air::read_signatures(*module);
    if (!signatures)
      return signatures.takeError();
    for (const air::Signature& signature : *signatures) {
      auto [at, fresh] =
          owners.emplace(signature.function->getName(), module->getModuleIdentifier());
      if (!fresh)
        return llvm::createStringError("duplicate symbol '" + at->first + "' in " + at->second +
                                       " and " + module->getModuleIdentifier());
    }
    foreign |= has_foreign_calls(*module);
  }
  if (foreign)
    if (llvm::Error error = join(modules))
      return std::move(error);
  metal::LibraryT library;
  for (const auto& module : modules) {
    if (llvm::Error error = finish(*module))
      return std::move(error);
    if (llvm::Error error = compiler::add_module(*module, air::write_bitcode(*module), library))
      return std::move(error);
  }
  const std::string bytes = compiler::finish(library);
  return compiler::to_metallib(*metal::GetLibrary(bytes.data()));
}

} // namespace bessemer::toolchain
