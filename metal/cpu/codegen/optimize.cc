#include "metal/cpu/codegen/optimize.h"

#include "metal/cpu/passes/inline_calls.h"
#include "metal/cpu/passes/order_loads.h"
#include "metal/cpu/passes/split_vectors.h"

#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace bessemer::metal::cpu {

AnalysisManagers::AnalysisManagers(const Target& target) : builder_(target.machine) {
  builder_.registerModuleAnalyses(modules);
  builder_.registerCGSCCAnalyses(components);
  builder_.registerFunctionAnalyses(functions);
  builder_.registerLoopAnalyses(loops);
  builder_.crossRegisterProxies(loops, functions, components, modules);
}

void set_target_attributes(Function& function, const Target& target) {
  std::string bits = std::to_string(target.traits.vector_bits);
  function.addFnAttr("target-cpu", target.traits.cpu);
  function.addFnAttr("target-features", target.traits.features);
  function.addFnAttr("prefer-vector-width", bits);
  function.addFnAttr("min-legal-vector-width", bits);
  function.addFnAttr("no-trapping-math", "true");
  function.addFnAttr(Attribute::NoUnwind);
}

void simplify_vector(Function& function, const Target& target) {
  AnalysisManagers managers(target);
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(EarlyCSEPass(true));
  passes.run(function, managers.functions);
}

// Lanes that a vector of constants shifts by their width or more are poison that nobody reads.
// LLVM's selection takes their value for zero and, having dropped the zero that a program puts
// there instead, shifts all the same: they are shifted by nothing.
static void bound_constant_shifts(Function& function) {
  for (BasicBlock& block : function)
    for (Instruction& instruction : block) {
      if (!instruction.isShift() || !instruction.getType()->isVectorTy())
        continue;
      auto* amounts = dyn_cast<Constant>(instruction.getOperand(1));
      auto* type = dyn_cast<FixedVectorType>(instruction.getType());
      if (!amounts || !type)
        continue;
      SmallVector<Constant*, 64> bounded;
      bool changed = false;
      for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
        Constant* amount = amounts->getAggregateElement(lane);
        auto* number = dyn_cast_or_null<ConstantInt>(amount);
        if (!amount || (number && number->getValue().uge(type->getScalarSizeInBits()))) {
          amount = ConstantInt::get(type->getElementType(), 0);
          changed = true;
        }
        bounded.push_back(amount);
      }
      if (changed)
        instruction.setOperand(1, ConstantVector::get(bounded));
    }
}

namespace {

// Lanes of a register, for the widest elements that the function computes with.
unsigned register_lanes(const Function& function, const Target& target) {
  unsigned widest = 8;
  for (const BasicBlock& block : function)
    for (const Instruction& instruction : block) {
      const auto* vector = dyn_cast<FixedVectorType>(instruction.getType());
      if (!vector || vector->getElementType()->isPointerTy())
        continue;
      widest = std::max(widest, std::min(32u, vector->getScalarSizeInBits()));
    }
  return unsigned(target.traits.vector_bits) / widest;
}

} // namespace

void optimize(Module& module, Function& entry, const Target& target) {
  if (Error error = inline_calls(entry))
    consumeError(std::move(error)); // then calls stay calls
  for (bool erased = true; erased;) {
    erased = false;
    for (Function& function : make_early_inc_range(module)) {
      if (!function.hasLocalLinkage() || function.isDeclaration() || !function.use_empty())
        continue;
      function.eraseFromParent();
      erased = true;
    }
  }
  split_vectors(entry, register_lanes(entry, target));
  AnalysisManagers managers(target);
  FunctionPassManager passes;
  auto loop_form = [&] {
    passes.addPass(LoopSimplifyPass());
    passes.addPass(LCSSAPass());
  };
  auto clean = [&] {
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass(true));
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass());
  };
  clean();
  loop_form();
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
  passes.addPass(LoopUnrollPass(LoopUnrollOptions(3, true, false)));
  clean();
  passes.addPass(GVNPass());
  loop_form();
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(DCEPass());
  passes.run(entry, managers.functions);
  bound_constant_shifts(entry);
  order_loads(entry, target.traits.vector_bits == 512 ? 28 : 14);
  for (Function& function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  for (GlobalVariable& variable : make_early_inc_range(module.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.use_empty())
      variable.eraseFromParent();
  }
  for (NamedMDNode& metadata : make_early_inc_range(module.named_metadata()))
    if (metadata.getName() != "llvm.module.flags" && metadata.getName() != "llvm.dbg.cu")
      metadata.eraseFromParent();
}

} // namespace bessemer::metal::cpu
