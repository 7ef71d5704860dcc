#include "metal/air/function_constants.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <algorithm>

namespace bessemer::air {

namespace {

constexpr char kDefinedQuery[] = "air.is_function_constant_defined";
constexpr char kNormalise[] = "air.normalize_function_constant_predicate.i8";

struct ScalarType {
  llvm::StringLiteral name;
  uint32_t first; // MTLDataType of the scalar; vectors of 2, 3, 4 follow
  uint32_t size;
};

constexpr ScalarType kScalars[] = {
    {"float", 3, 4},  {"half", 16, 2},   {"int", 29, 4},   {"uint", 33, 4},
    {"short", 37, 2}, {"ushort", 41, 2}, {"char", 45, 1},  {"uchar", 49, 1},
    {"bool", 53, 1},  {"long", 81, 8},   {"ulong", 85, 8}, {"bfloat", 121, 2},
};

} // namespace

uint32_t data_type_from_name(llvm::StringRef name) {
  for (const ScalarType& scalar : kScalars) {
    llvm::StringRef rest = name;
    if (!rest.consume_front(scalar.name))
      continue;
    if (rest.empty())
      return scalar.first;
    if (rest == "2" || rest == "3" || rest == "4")
      return scalar.first + static_cast<uint32_t>(rest.front() - '1');
  }
  return 0;
}

uint32_t data_type_size(uint32_t data_type) {
  for (const ScalarType& scalar : kScalars)
    if (data_type >= scalar.first && data_type < scalar.first + 4) {
      uint32_t lanes = data_type - scalar.first + 1;
      return scalar.size * (lanes == 3 ? 4 : lanes);
    }
  return 0;
}

llvm::Expected<std::vector<FunctionConstant>> read_function_constants(const llvm::Module& module) {
  std::vector<FunctionConstant> constants;
  const llvm::NamedMDNode* list = module.getNamedMetadata("air.function_constants");
  if (!list)
    return constants;
  for (const llvm::MDNode* node : list->operands()) {
    auto text = [&](unsigned i) {
      auto* string = i < node->getNumOperands()
                         ? llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(i))
                         : nullptr;
      return string ? string->getString().str() : std::string();
    };
    auto number = [&](unsigned i) {
      return i < node->getNumOperands()
                 ? llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node->getOperand(i))
                 : nullptr;
    };
    FunctionConstant constant;
    if (node->getNumOperands() < 4 || !number(3))
      return llvm::createStringError(
          "AIR metadata: a function constant without type, name or index");
    // Null where an optimiser removed a constant that nothing reads.
    constant.variable =
        llvm::mdconst::dyn_extract_or_null<llvm::GlobalVariable>(node->getOperand(0));
    constant.type_name = text(1);
    constant.name = text(2);
    constant.index = static_cast<uint32_t>(number(3)->getZExtValue());
    constant.data_type = data_type_from_name(constant.type_name);
    constant.required = !number(4) || !number(4)->isZero();
    constants.push_back(std::move(constant));
  }
  std::ranges::sort(constants, {}, &FunctionConstant::index);
  return constants;
}

namespace {

// Little-endian elements of the host's bytes as a constant of the global's type.
llvm::Constant* constant_from_bytes(llvm::Type* type, const uint8_t* bytes) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    llvm::SmallVector<llvm::Constant*, 4> lanes;
    unsigned size = std::max(1u, vector->getScalarSizeInBits() / 8);
    for (unsigned i = 0; i < vector->getNumElements(); ++i)
      lanes.push_back(constant_from_bytes(vector->getElementType(), bytes + i * size));
    return llvm::ConstantVector::get(lanes);
  }
  // A vector is a struct around an IR vector in what our front end writes.
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type);
      structure && structure->getNumElements() == 1) {
    llvm::Constant* member = constant_from_bytes(structure->getElementType(0), bytes);
    return member ? llvm::ConstantStruct::get(structure, member) : nullptr;
  }
  unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  if (bits == 0 || bits > 64)
    return nullptr;
  uint64_t value = 0;
  for (unsigned i = 0; i < std::max(1u, bits / 8); ++i)
    value |= uint64_t{bytes[i]} << (8 * i);
  llvm::APInt pattern(64, value);
  pattern = pattern.trunc(bits);
  if (type->isIntegerTy())
    return llvm::ConstantInt::get(type, pattern);
  if (type->isFloatingPointTy())
    return llvm::ConstantFP::get(type->getContext(),
                                 llvm::APFloat(type->getFltSemantics(), pattern));
  return nullptr;
}

// Whether an argument with this global as predicate exists is known from now on: the node gets the
// value in place of the global, which optimisers may then remove.
void settle_predicates(llvm::Module& module) {
  llvm::NamedMDNode* kernels = module.getNamedMetadata("air.kernel");
  if (!kernels)
    return;
  for (llvm::MDNode* kernel : kernels->operands()) {
    auto* arguments = kernel->getNumOperands() > 2
                          ? llvm::dyn_cast_or_null<llvm::MDNode>(kernel->getOperand(2))
                          : nullptr;
    if (!arguments)
      continue;
    for (const llvm::MDOperand& operand : arguments->operands()) {
      auto* argument = llvm::dyn_cast_or_null<llvm::MDNode>(operand);
      for (unsigned i = 0; argument && i + 1 < argument->getNumOperands(); ++i) {
        auto* key = llvm::dyn_cast_or_null<llvm::MDString>(argument->getOperand(i));
        if (!key || key->getString() != "air.function_constant")
          continue;
        auto* predicate = llvm::dyn_cast_or_null<llvm::MDNode>(argument->getOperand(i + 1));
        if (!predicate || predicate->getNumOperands() == 0)
          continue;
        auto* global =
            llvm::mdconst::dyn_extract_or_null<llvm::GlobalVariable>(predicate->getOperand(0));
        if (!global || !global->hasInitializer())
          continue;
        auto* value = llvm::dyn_cast<llvm::ConstantInt>(global->getInitializer());
        if (!value)
          continue;
        llvm::SmallVector<llvm::Metadata*, 3> items(predicate->op_begin(), predicate->op_end());
        items[0] = llvm::ConstantAsMetadata::get(value);
        argument->replaceOperandWith(i + 1, llvm::MDNode::get(module.getContext(), items));
      }
    }
  }
}

llvm::SmallVector<llvm::GlobalValue*> predicate_globals(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalValue*> globals;
  if (llvm::NamedMDNode* kernels = module.getNamedMetadata("air.kernel"))
    for (llvm::MDNode* kernel : kernels->operands()) {
      auto* arguments = kernel->getNumOperands() > 2
                            ? llvm::dyn_cast_or_null<llvm::MDNode>(kernel->getOperand(2))
                            : nullptr;
      for (unsigned a = 0; arguments && a < arguments->getNumOperands(); ++a) {
        auto* argument = llvm::dyn_cast_or_null<llvm::MDNode>(arguments->getOperand(a));
        for (unsigned i = 0; argument && i + 1 < argument->getNumOperands(); ++i) {
          auto* key = llvm::dyn_cast_or_null<llvm::MDString>(argument->getOperand(i));
          auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(argument->getOperand(i + 1));
          if (key && node && key->getString() == "air.function_constant" && node->getNumOperands())
            if (auto* global =
                    llvm::mdconst::dyn_extract_or_null<llvm::GlobalVariable>(node->getOperand(0)))
              globals.push_back(global);
        }
      }
    }
  return globals;
}

// Answers `is_function_constant_defined(constant)`: a call with the constant's address, or in older
// form with the value just loaded from it.
void answer_defined_queries(llvm::Module& module,
                            const llvm::DenseMap<const llvm::Value*, bool>& defined) {
  llvm::SmallVector<llvm::Function*, 2> queries;
  for (llvm::Function& function : module)
    if (function.getName().starts_with(kDefinedQuery))
      queries.push_back(&function);
  for (llvm::Function* query : queries) {
    for (llvm::User* user : llvm::make_early_inc_range(query->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call)
        continue;
      bool answer = true;
      if (call->arg_size() > 0) {
        const llvm::Value* subject = call->getArgOperand(0)->stripPointerCasts();
        if (auto found = defined.find(subject); found != defined.end())
          answer = found->second;
      }
      call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), answer));
      call->eraseFromParent();
    }
    if (query->use_empty())
      query->eraseFromParent();
  }
}

void expand_normalise(llvm::Module& module) {
  llvm::Function* function = module.getFunction(kNormalise);
  if (!function)
    return;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->arg_size() != 1)
      continue;
    llvm::IRBuilder<> builder(call);
    llvm::Value* exists = builder.CreateIsNotNull(call->getArgOperand(0));
    call->replaceAllUsesWith(builder.CreateZExt(exists, call->getType()));
    call->eraseFromParent();
  }
  if (function->use_empty())
    function->eraseFromParent();
}

void evaluate_initialisers(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  auto simplify = [] {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    return llvm::createModuleToFunctionPassAdaptor(std::move(passes));
  };
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(simplify());
  passes.addPass(llvm::GlobalOptPass());
  passes.addPass(simplify());
  passes.run(module, modules);
}

bool has_initialisers(const llvm::Module& module) {
  auto* list = module.getNamedGlobal("llvm.global_ctors");
  if (!list || !list->hasInitializer())
    return false;
  auto* array = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
  return array && array->getNumOperands() > 0;
}

} // namespace

std::vector<uint32_t> constants_used_by(const llvm::Module& module, const Signature& signature,
                                        std::span<const FunctionConstant> constants) {
  std::vector<uint32_t> used;
  if (constants.empty())
    return used;
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  llvm::SmallVector<const llvm::Value*, 32> work;
  auto add = [&](const llvm::Value* value) {
    if (seen.insert(value).second)
      work.push_back(value);
  };
  add(signature.function);
  for (const Argument& argument : signature.arguments)
    if (const llvm::GlobalVariable* predicate = module.getNamedGlobal(argument.predicate))
      add(predicate);
  while (!work.empty()) {
    const llvm::Value* value = work.pop_back_val();
    if (auto* body = llvm::dyn_cast<llvm::Function>(value)) {
      for (const llvm::BasicBlock& block : *body)
        for (const llvm::Instruction& instruction : block)
          for (const llvm::Value* operand : instruction.operands())
            if (llvm::isa<llvm::Constant>(operand))
              add(operand);
    } else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
      if (variable->hasInitializer())
        add(variable->getInitializer());
      // What a static initialiser writes depends on all that it reads.
      for (const llvm::User* user : variable->users())
        if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
            store && store->getPointerOperand() == variable)
          add(store->getFunction());
    } else if (auto* expression = llvm::dyn_cast<llvm::User>(value)) {
      for (const llvm::Value* operand : expression->operands())
        add(operand);
    }
  }
  for (const FunctionConstant& constant : constants)
    if (constant.variable && seen.contains(constant.variable))
      used.push_back(constant.index);
  return used;
}

llvm::Error specialise(llvm::Module& module, std::span<const ConstantValue> values) {
  auto constants = read_function_constants(module);
  if (!constants)
    return constants.takeError();
  auto signatures = read_signatures(module);
  if (!signatures)
    return signatures.takeError();
  llvm::DenseSet<uint32_t> used;
  for (const Signature& signature : *signatures)
    for (uint32_t index : constants_used_by(module, signature, *constants))
      used.insert(index);
  llvm::DenseMap<const llvm::Value*, bool> defined;
  for (const FunctionConstant& constant : *constants) {
    auto value = std::ranges::find(values, constant.index, &ConstantValue::index);
    bool given = value != values.end();
    if (!given && constant.required && used.contains(constant.index))
      return llvm::createStringError(llvm::formatv(
          "function constant '{0}' (index {1}) has no value", constant.name, constant.index));
    if (given && value->data_type != constant.data_type)
      return llvm::createStringError(llvm::formatv(
          "function constant '{0}' (index {1}) is {2} (MTLDataType {3}); a value of MTLDataType "
          "{4} "
          "was given",
          constant.name, constant.index, constant.type_name, constant.data_type, value->data_type));
    llvm::GlobalVariable* variable = constant.variable;
    if (!variable)
      continue;
    llvm::Constant* initialiser = llvm::Constant::getNullValue(variable->getValueType());
    if (given) {
      if (value->bytes.size() < data_type_size(constant.data_type))
        return llvm::createStringError(llvm::formatv(
            "function constant '{0}' (index {1}): {2} bytes given, {3} needed", constant.name,
            constant.index, value->bytes.size(), data_type_size(constant.data_type)));
      initialiser = constant_from_bytes(variable->getValueType(), value->bytes.data());
      if (!initialiser)
        return llvm::createStringError(
            llvm::formatv("function constant '{0}' (index {1}): type {2} is not supported",
                          constant.name, constant.index, constant.type_name));
    }
    defined[variable] = given;
    variable->setInitializer(initialiser);
    variable->setExternallyInitialized(false);
    variable->setConstant(true);
    variable->setLinkage(llvm::GlobalValue::InternalLinkage);
    variable->setSection("");
  }
  if (constants->empty() && !has_initialisers(module))
    return llvm::Error::success();
  answer_defined_queries(module, defined);
  expand_normalise(module);
  // Nothing but metadata may read a predicate, so it must be kept until its value is known.
  llvm::SmallVector<llvm::GlobalValue*> predicates = predicate_globals(module);
  if (!predicates.empty())
    llvm::appendToCompilerUsed(module, predicates);
  evaluate_initialisers(module);
  settle_predicates(module);
  llvm::removeFromUsedLists(module, [&](llvm::Constant* used) {
    return llvm::is_contained(predicates, used->stripPointerCasts());
  });
  if (has_initialisers(module))
    return llvm::createStringError("a value at namespace scope is not known at compile time");
  if (llvm::NamedMDNode* list = module.getNamedMetadata("air.function_constants"))
    list->eraseFromParent();
  return llvm::Error::success();
}

} // namespace bessemer::air
