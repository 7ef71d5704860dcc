// Control flow that may differ between lanes becomes straight-line code under masks.
#pragma once

#include "metal/cpu/analysis/divergence.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Rewrites `function` so that every branch goes the same way for all lanes: blocks that only some
/// lanes run follow one another, each headed by spmd.mask and, where it is worth it, skipped when
/// no lane is active; loops run until no lane is live. Phis that merge lanes become selects.
/// `active` is the mask of the whole function, null when all lanes are active.
/// In the loops whose headers are in `full` every lane is known to be active.
/// `loops` and `divergence` are stale afterwards.
void linearize(llvm::Function& function, llvm::LoopInfo& loops, const Divergence& divergence,
               llvm::Value* active, const llvm::DenseSet<const llvm::BasicBlock*>& full);

} // namespace bessemer::metal::cpu
