// Simdgroup matrices as values of the whole simdgroup, not as two elements of each lane.
#pragma once

#include "metal/cpu/analysis/divergence.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Makes products of matrices work on uniform values of type <64 x float>, row after row, and so
/// keeps sums of products in that form from one product to the next. Lanes' elements are put
/// together (spmd.matrix_join) and taken apart (spmd.matrix_element) only where something else has
/// or wants them. Leaves a function alone in which lanes may reach a product apart. Returns whether
/// there was anything to do; `loops` and `divergence` are stale then.
bool use_whole_matrices(llvm::Function& function, const llvm::LoopInfo& loops,
                        const Divergence& divergence);

} // namespace bessemer::metal::cpu
