// A thread function in the form that the analyses and passes on lanes expect.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

namespace bessemer::metal::cpu {

/// Promotes thread memory to registers, as far as that goes without changing control flow.
void promote_memory(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Optimises scalar code and brings it into form: copies of memory are loads and stores, operations
/// on small vectors are scalar (but for whole loads and stores), no switches, short loops unrolled.
llvm::Error simplify_thread(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Gives control flow its form: one return; every loop has one preheader that only branches, one
/// latch, and one exit block that holds only the phis of values that leave the loop.
llvm::Error normalize_control_flow(llvm::Function& function,
                                   llvm::FunctionAnalysisManager& analyses);

} // namespace bessemer::metal::cpu
