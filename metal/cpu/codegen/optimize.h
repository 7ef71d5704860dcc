// LLVM's own passes, as far as they pay for vector code.
#pragma once

#include "metal/cpu/codegen/target.h"

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"

namespace bessemer::metal::cpu {

/// The analyses of one module for one target.
struct AnalysisManagers {
  explicit AnalysisManagers(const Target& target);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

private:
  llvm::PassBuilder builder_;
};

/// Tells the code generator which processor `function` is for.
void set_target_attributes(llvm::Function& function, const Target& target);

/// A first clean-up of a vector function that still has barriers in it.
void simplify_vector(llvm::Function& function, const Target& target);

/// Inlines everything into `entry` and optimises it; removes what nothing uses.
void optimize(llvm::Module& module, llvm::Function& entry, const Target& target);

} // namespace bessemer::metal::cpu
