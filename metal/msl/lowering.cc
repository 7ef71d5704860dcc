#include "metal/msl/lowering.h"

#include "metal/air/function_constants.h"
#include "metal/air/module.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/TargetParser/Triple.h"

namespace bessemer::msl {

namespace {

void drop_annotations(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    llvm::StringRef name = function.getName();
    bool variable = name.starts_with("llvm.var.annotation");
    if (!variable && !name.starts_with("llvm.ptr.annotation"))
      continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      if (!variable)
        call->replaceAllUsesWith(call->getArgOperand(0));
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
  if (auto* list = module.getNamedGlobal("llvm.global.annotations"))
    list->eraseFromParent();
}

// `air.maybe_fast_sin.f32` is what the headers call; the math mode decides.
void choose_math(llvm::Module& module, MathMode mode) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    llvm::StringRef rest = function.getName();
    if (!function.isDeclaration() || !rest.consume_front("air.maybe_fast_"))
      continue;
    std::string name = (mode == MathMode::Fast ? "air.fast_" : "air.") + rest.str();
    if (llvm::Function* existing = module.getFunction(name)) {
      function.replaceAllUsesWith(existing);
      function.eraseFromParent();
    } else {
      function.setName(name);
    }
  }
}

// LLVM's plain conversions are poison out of range. MSL's saturate at 32 bits (64 for longer
// types), NaN gives 0, and shorter integers are the low bits: the hardware has no narrower
// conversion.
void saturate_conversions(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
        bool is_signed = llvm::isa<llvm::FPToSIInst>(instruction);
        bool is_unsigned = llvm::isa<llvm::FPToUIInst>(instruction);
        if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
          is_signed = call->getIntrinsicID() == llvm::Intrinsic::fptosi_sat;
          is_unsigned = call->getIntrinsicID() == llvm::Intrinsic::fptoui_sat;
        }
        if (!is_signed && !is_unsigned)
          continue;
        llvm::IRBuilder<> builder(&instruction);
        llvm::Value* operand = instruction.getOperand(0);
        llvm::Type* type = instruction.getType();
        const bool narrow = type->getScalarSizeInBits() < 32;
        llvm::Type* through = narrow ? type->getWithNewType(builder.getInt32Ty()) : type;
        llvm::Value* saturated = builder.CreateIntrinsic(
            is_signed || narrow ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
            {through, operand->getType()}, {operand});
        saturated = builder.CreateTrunc(saturated, type);
        saturated->takeName(&instruction);
        instruction.replaceAllUsesWith(saturated);
        instruction.eraseFromParent();
      }
}

llvm::Error make_function_constants(llvm::Module& module, const Reflection& reflection) {
  llvm::LLVMContext& context = module.getContext();
  llvm::StringSet<> asked;
  if (llvm::Function* query = module.getFunction("air.is_function_constant_defined"))
    for (llvm::User* user : query->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user))
        asked.insert(call->getArgOperand(0)->stripPointerCasts()->getName());
  llvm::NamedMDNode* list = nullptr;
  for (const ReflectedConstant& constant : reflection.constants) {
    if (!air::data_type_from_name(constant.type_name))
      return llvm::createStringError("function constant '" + constant.name + "': type '" +
                                     constant.type_name + "' is not a scalar or vector");
    auto* variable = module.getNamedGlobal(constant.symbol);
    bool required = !asked.contains(constant.symbol);
    if (variable && variable->isDeclaration()) {
      variable->setInitializer(llvm::UndefValue::get(variable->getValueType()));
      variable->setExternallyInitialized(true);
      variable->setConstant(true);
      variable->setLinkage(llvm::GlobalValue::InternalLinkage);
      variable->setSection("air.fc_initializer");
    }
    if (!list)
      list = module.getOrInsertNamedMetadata("air.function_constants");
    auto number = [&](unsigned bits, uint64_t value) -> llvm::Metadata* {
      return llvm::ConstantAsMetadata::get(
          llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), value));
    };
    list->addOperand(llvm::MDNode::get(
        context,
        {variable ? static_cast<llvm::Metadata*>(llvm::ConstantAsMetadata::get(variable)) : nullptr,
         llvm::MDString::get(context, constant.type_name),
         llvm::MDString::get(context, constant.name), number(32, constant.index),
         number(1, required)}));
  }
  return llvm::Error::success();
}

llvm::Error make_kernels(llvm::Module& module, const Reflection& reflection,
                         llvm::StringSet<>& kept) {
  // First free the names that kernels want, then give them.
  std::vector<std::pair<llvm::Function*, const ReflectedFunction*>> functions;
  for (const ReflectedFunction& reflected : reflection.functions)
    if (llvm::Function* function = module.getFunction(reflected.symbol);
        function && !function->isDeclaration())
      functions.emplace_back(function, &reflected);
  for (auto& [function, reflected] : functions)
    function->setName("");
  for (auto& [function, reflected] : functions) {
    if (!kept.insert(reflected->name).second)
      return llvm::createStringError("two functions have the name '" + reflected->name + "'");
    if (llvm::GlobalValue* other = module.getNamedValue(reflected->name))
      other->setName(reflected->name + ".other");
    function->setName(reflected->name);
    air::Signature signature = reflected->signature;
    signature.function = function;
    if (signature.kind == air::FunctionKind::Kernel &&
        function->arg_size() != signature.arguments.size())
      return llvm::createStringError("function '" + reflected->name +
                                     "' has a parameter that cannot be passed");
    for (air::Argument& argument : signature.arguments) {
      function->getArg(argument.parameter)->setName(argument.name);
      if (argument.predicate.empty())
        continue;
      // A constant of that name, or a variable computed from constants.
      std::string symbol;
      for (const ReflectedConstant& constant : reflection.constants)
        if (constant.name == argument.predicate)
          symbol = constant.symbol;
      if (symbol.empty() || !module.getNamedGlobal(symbol))
        for (llvm::GlobalVariable& variable : module.globals())
          if (variable.getName().ends_with(std::to_string(argument.predicate.size()) +
                                           argument.predicate))
            symbol = variable.getName();
      if (!module.getNamedGlobal(symbol)) {
        // Nothing reads it but this argument: it has no global yet.
        auto* variable =
            new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), true,
                                     llvm::GlobalValue::ExternalLinkage, nullptr, symbol, nullptr,
                                     llvm::GlobalValue::NotThreadLocal, air::Constant);
        symbol = variable->getName();
      }
      argument.predicate = symbol;
    }
    air::write_signature(module, signature);
    if (signature.max_threads_per_threadgroup)
      function->addFnAttr("max-work-group-size",
                          std::to_string(signature.max_threads_per_threadgroup));
  }
  return llvm::Error::success();
}

void internalise(llvm::Module& module, const llvm::StringSet<>& kept, bool for_linking) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration())
      continue;
    function.setComdat(nullptr);
    function.setDSOLocal(false);
    if (kept.contains(function.getName()) ||
        (for_linking && function.getLinkage() == llvm::GlobalValue::ExternalLinkage)) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    } else {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      // GPUs of this kind have no calls that are worth their cost; recursion is not allowed.
      if (!function.hasFnAttribute(llvm::Attribute::NoInline))
        function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || variable.getName().starts_with("llvm."))
      continue;
    variable.setComdat(nullptr);
    variable.setDSOLocal(false);
    variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (variable.getAddressSpace() == air::Threadgroup)
      variable.setInitializer(llvm::UndefValue::get(variable.getValueType()));
  }
}

void drop_target_attributes(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (const char* name : {"target-cpu", "target-features", "no-trapping-math", "no-builtins",
                             "stack-protector-buffer-size", "no-prototype", "frame-pointer"})
      function.removeFnAttr(name);
}

void write_module_facts(llvm::Module& module, const Options& options) {
  llvm::LLVMContext& context = module.getContext();
  uint32_t version = options.language_version ? options.language_version : kNewestLanguage;
  auto number = [&](uint32_t value) -> llvm::Metadata* {
    return llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value));
  };
  auto text = [&](llvm::StringRef value) -> llvm::Metadata* {
    return llvm::MDString::get(context, value);
  };
  module.getOrInsertNamedMetadata("air.version")
      ->addOperand(llvm::MDNode::get(context, {number(2), number(6), number(0)}));
  module.getOrInsertNamedMetadata("air.language_version")
      ->addOperand(llvm::MDNode::get(
          context, {text("Metal"), number(version >> 16), number(version & 0xffff), number(0)}));
  llvm::NamedMDNode* compile_options = module.getOrInsertNamedMetadata("air.compile_options");
  llvm::SmallVector<llvm::StringRef, 2> texts = {options.math_mode == MathMode::Fast
                                                     ? "air.compile.fast_math_enable"
                                                     : "air.compile.fast_math_disable"};
  // Metal lets an implementation flush subnormal floats always; who asks for safe mathematics gets
  // what IEEE says.
  if (options.math_mode != MathMode::Safe)
    texts.insert(texts.begin(), "air.compile.denorms_disable");
  for (llvm::StringRef option : texts)
    compile_options->addOperand(llvm::MDNode::get(context, {text(option)}));
  if (llvm::NamedMDNode* ident = module.getNamedMetadata("llvm.ident"))
    ident->eraseFromParent();
}

} // namespace

llvm::Error lower(llvm::Module& module, const Reflection& reflection, const Options& options) {
  module.setTargetTriple(llvm::Triple("air64-apple-macosx14.0.0"));
  drop_annotations(module);
  choose_math(module, options.math_mode);
  saturate_conversions(module);
  llvm::StringSet<> kept;
  if (llvm::Error error = make_kernels(module, reflection, kept))
    return error;
  if (llvm::Error error = make_function_constants(module, reflection))
    return error;
  internalise(module, kept, options.for_linking);
  drop_target_attributes(module);
  write_module_facts(module, options);
  std::string why;
  llvm::raw_string_ostream stream(why);
  if (llvm::verifyModule(module, &stream))
    return llvm::createStringError("internal: the module is not valid: " + why);
  return llvm::Error::success();
}

} // namespace bessemer::msl
