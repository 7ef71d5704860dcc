#include "metal/air/module.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

namespace bessemer::air {

const char kDataLayout[] =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-"
    "v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-"
    "v512:512:512-v1024:1024:1024-n8:16:32";

namespace {

// Libraries keep modules back to back without alignment; the reader wants 4 bytes.
std::unique_ptr<llvm::MemoryBuffer> align(llvm::MemoryBufferRef& bitcode) {
  if (reinterpret_cast<uintptr_t>(bitcode.getBufferStart()) % 4 == 0)
    return nullptr;
  auto aligned =
      llvm::MemoryBuffer::getMemBufferCopy(bitcode.getBuffer(), bitcode.getBufferIdentifier());
  bitcode = aligned->getMemBufferRef();
  return aligned;
}

llvm::Error bad_bitcode(llvm::Error error) {
  return llvm::createStringError("AIR bitcode: " + llvm::toString(std::move(error)));
}

llvm::Error verify(const llvm::Module& module) {
  std::string why;
  llvm::raw_string_ostream stream(why);
  if (!llvm::verifyModule(module, &stream))
    return llvm::Error::success();
  return llvm::createStringError("AIR bitcode is not valid: " +
                                 llvm::StringRef(why).split('\n').first);
}

// Loads the body of `function` and of all that it and the static initialisers refer to.
llvm::Error materialize_needed(llvm::Module& module, llvm::Function& function) {
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  llvm::SmallVector<llvm::Value*, 32> work;
  auto add = [&](llvm::Value* value) {
    if (seen.insert(value).second)
      work.push_back(value);
  };
  add(&function);
  if (auto* initialisers = module.getNamedGlobal("llvm.global_ctors"))
    add(initialisers);
  while (!work.empty()) {
    llvm::Value* value = work.pop_back_val();
    if (auto* body = llvm::dyn_cast<llvm::Function>(value)) {
      if (llvm::Error error = body->materialize())
        return error;
      for (llvm::BasicBlock& block : *body)
        for (llvm::Instruction& instruction : block)
          for (llvm::Value* operand : instruction.operands())
            if (llvm::isa<llvm::Constant>(operand))
              add(operand);
    } else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
      if (variable->hasInitializer())
        add(variable->getInitializer());
    } else if (auto* user = llvm::dyn_cast<llvm::User>(value)) {
      for (llvm::Value* operand : user->operands())
        add(operand);
    }
  }
  return llvm::Error::success();
}

void keep_only_kernel(llvm::Module& module, const llvm::Function& function) {
  for (const char* name : {"air.kernel", "air.vertex", "air.fragment"}) {
    llvm::NamedMDNode* list = module.getNamedMetadata(name);
    if (!list)
      continue;
    llvm::SmallVector<llvm::MDNode*> kept;
    for (llvm::MDNode* node : list->operands())
      if (node->getNumOperands() &&
          llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) == &function)
        kept.push_back(node);
    list->clearOperands();
    for (llvm::MDNode* node : kept)
      list->addOperand(node);
  }
}

void run_global_dce(llvm::Module& module) {
  llvm::ModuleAnalysisManager modules;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::LoopAnalysisManager loops;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::GlobalDCEPass().run(module, modules);
}

} // namespace

llvm::Expected<std::unique_ptr<llvm::Module>> parse_module(llvm::MemoryBufferRef bitcode,
                                                           llvm::LLVMContext& context) {
  std::unique_ptr<llvm::MemoryBuffer> aligned = align(bitcode);
  auto module = llvm::parseBitcodeFile(bitcode, context);
  if (!module)
    return bad_bitcode(module.takeError());
  if (llvm::Error error = verify(**module))
    return std::move(error);
  return std::move(*module);
}

llvm::Expected<std::unique_ptr<llvm::Module>>
parse_function(llvm::MemoryBufferRef bitcode, llvm::StringRef name, llvm::LLVMContext& context) {
  std::unique_ptr<llvm::MemoryBuffer> aligned = align(bitcode);
  auto parsed = llvm::getLazyBitcodeModule(bitcode, context);
  if (!parsed)
    return bad_bitcode(parsed.takeError());
  std::unique_ptr<llvm::Module> module = std::move(*parsed);
  if (llvm::Error error = module->materializeMetadata())
    return bad_bitcode(std::move(error));
  llvm::Function* function = module->getFunction(name);
  if (!function || function->isDeclaration())
    return llvm::createStringError("no function '" + name + "' in this AIR module");
  if (llvm::Error error = materialize_needed(*module, *function))
    return bad_bitcode(std::move(error));
  keep_only_kernel(*module, *function);
  for (llvm::Function& other : *module)
    if (other.isMaterializable())
      other.deleteBody();
  if (llvm::Error error = module->materializeAll())
    return bad_bitcode(std::move(error));
  for (llvm::Function& other : *module)
    if (&other != function && !other.isDeclaration())
      other.setLinkage(llvm::GlobalValue::InternalLinkage);
  run_global_dce(*module);
  if (llvm::Error error = verify(*module))
    return std::move(error);
  return module;
}

namespace {

void drop_unused_declarations(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
}

void drop_foreign_attributes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (const char* name :
         {"frame-pointer", "no-builtins", "stack-protector-buffer-size", "target-cpu",
          "target-features", "less-precise-fpmad", "no-infs-fp-math", "no-nans-fp-math",
          "unsafe-fp-math", "no-trapping-math", "min-legal-vector-width"})
      function.removeFnAttr(name);
    // Kernels are leaf code: nothing unwinds, nothing guards the stack.
    function.removeFnAttr(llvm::Attribute::StackProtect);
    function.removeFnAttr(llvm::Attribute::StackProtectStrong);
  }
}

void drop_module_flags(llvm::Module& module) {
  llvm::NamedMDNode* flags = module.getModuleFlagsMetadata();
  if (!flags)
    return;
  llvm::SmallVector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags->operands()) {
    auto* name =
        flag->getNumOperands() > 1 ? llvm::dyn_cast<llvm::MDString>(flag->getOperand(1)) : nullptr;
    if (!name)
      continue;
    llvm::StringRef text = name->getString();
    if (text.starts_with("air.") || text == "SDK Version" || text == "frame-pointer")
      continue;
    kept.push_back(flag);
  }
  flags->clearOperands();
  for (llvm::MDNode* flag : kept)
    flags->addOperand(flag);
}

} // namespace

void keep_divisions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (instruction.getOpcode() != llvm::Instruction::FDiv)
        continue;
      instruction.setHasAllowReciprocal(false);
      instruction.setHasApproxFunc(false);
    }
  }
}

void normalise(llvm::Module& module, llvm::StringRef triple, llvm::StringRef data_layout) {
  keep_divisions(module);
  module.setTargetTriple(llvm::Triple(triple));
  module.setDataLayout(data_layout);
  drop_unused_declarations(module);
  drop_foreign_attributes(module);
  drop_module_flags(module);
}

bool has_compile_option(const llvm::Module& module, llvm::StringRef option) {
  const llvm::NamedMDNode* list = module.getNamedMetadata("air.compile_options");
  if (!list)
    return false;
  for (const llvm::MDNode* node : list->operands())
    for (const llvm::MDOperand& operand : node->operands())
      if (auto* text = llvm::dyn_cast_or_null<llvm::MDString>(operand.get());
          text && text->getString() == option)
        return true;
  return false;
}

std::string write_bitcode(const llvm::Module& module) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return std::string(bytes);
}

} // namespace bessemer::air
