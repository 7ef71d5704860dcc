#include "metal/air/simplify.h"

#include "metal/air/module.h"

#include "metal/air/module.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/MemCpyOptimizer.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace bessemer::air {

namespace {

// Instructions in all instances of a loop that is unrolled for the sake of private arrays.
constexpr unsigned kMaxUnrolledInstructions = 4096;

bool depends_on(const llvm::Value* value, const llvm::PHINode* phi, unsigned depth = 0) {
  if (value == phi)
    return true;
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || depth > 6 || llvm::isa<llvm::PHINode, llvm::LoadInst>(instruction))
    return false;
  return llvm::any_of(instruction->operands(),
                      [&](const llvm::Use& use) { return depends_on(use, phi, depth + 1); });
}

// Whether the loop picks elements of a private array by its own counter: unrolled, they are values.
bool indexes_private_array(const llvm::Loop& loop) {
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (!phi.getType()->isIntegerTy())
      continue;
    for (const llvm::BasicBlock* block : loop.blocks())
      for (const llvm::Instruction& instruction : *block) {
        auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
        if (!address || !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address)))
          continue;
        for (const llvm::Use& index : address->indices())
          if (depends_on(index, &phi))
            return true;
      }
  }
  return false;
}

// Asks the unroller, by metadata, for loops whose private arrays then become values. Its own cost
// model knows nothing of what memory of one's own costs when 32 lanes have it.
class UnrollPrivateArrays : public llvm::PassInfoMixin<UnrollPrivateArrays> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& manager) {
    auto& loops = manager.getResult<llvm::LoopAnalysis>(function);
    auto& evolution = manager.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      unsigned trips = evolution.getSmallConstantTripCount(loop);
      if (trips < 2 || llvm::findOptionMDForLoop(loop, "llvm.loop.unroll.disable") ||
          !indexes_private_array(*loop))
        continue;
      uint64_t size = 0;
      for (llvm::BasicBlock* block : loop->blocks())
        size += block->size();
      for (llvm::Loop* inner : loop->getSubLoops())
        size *= std::max(1u, evolution.getSmallConstantTripCount(inner));
      if (size * trips <= kMaxUnrolledInstructions)
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full");
    }
    return llvm::PreservedAnalyses::all();
  }
};

llvm::FunctionPassManager scalar_passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InferAddressSpacesPass(Thread));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

llvm::FunctionPassManager loop_passes() {
  llvm::FunctionPassManager passes;
  llvm::LoopPassManager invariant;
  invariant.addPass(llvm::LoopRotatePass(/*EnableHeaderDuplication=*/true));
  invariant.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(std::move(invariant), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(UnrollPrivateArrays());
  llvm::LoopPassManager unroll;
  unroll.addPass(llvm::IndVarSimplifyPass());
  unroll.addPass(llvm::LoopDeletionPass());
  unroll.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/2));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(unroll)));
  return passes;
}

} // namespace

void simplify(llvm::Module& module) {
  keep_divisions(module);
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

  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  {
    // Small first: inlining multiplies what is left.
    llvm::FunctionPassManager early;
    early.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    early.addPass(llvm::EarlyCSEPass());
    early.addPass(llvm::SimplifyCFGPass());
    early.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(early)));
  }
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/true));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::GlobalOptPass());
  {
    llvm::FunctionPassManager late;
    late.addPass(scalar_passes());
    // Casts in front of memory that SROA could not split the first time.
    late.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    late.addPass(llvm::InferAddressSpacesPass(Thread));
    late.addPass(llvm::InstCombinePass());
    late.addPass(loop_passes());
    late.addPass(scalar_passes());
    late.addPass(llvm::ReassociatePass());
    late.addPass(llvm::GVNPass());
    late.addPass(llvm::MemCpyOptPass());
    late.addPass(llvm::DSEPass());
    late.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    late.addPass(llvm::InstCombinePass());
    late.addPass(llvm::SimplifyCFGPass());
    late.addPass(llvm::ADCEPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(late)));
  }
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, modules);
}

} // namespace bessemer::air
