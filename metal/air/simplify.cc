#include "metal/air/simplify.h"

#include "metal/air/module.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/AggressiveInstCombine/AggressiveInstCombine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/BDCE.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/MemCpyOptimizer.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"

namespace bessemer::air {

void simplify(llvm::Module& module) {
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
    late.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    late.addPass(llvm::InferAddressSpacesPass(Thread));
    late.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    late.addPass(llvm::InstCombinePass());
    late.addPass(llvm::SimplifyCFGPass());
    // Casts in front of memory that SROA could not split the first time.
    late.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    late.addPass(llvm::InferAddressSpacesPass(Thread));
    late.addPass(llvm::InstCombinePass());
    late.addPass(llvm::ReassociatePass());
    late.addPass(llvm::GVNPass());
    late.addPass(llvm::MemCpyOptPass());
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
