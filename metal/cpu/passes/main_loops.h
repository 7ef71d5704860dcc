// Loops that lanes leave at different times run without masks for as long as all lanes go on.
#pragma once

#include "metal/cpu/analysis/divergence.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Puts a copy before each innermost divergent loop whose only exit is at its end; the copy is left
/// as soon as a lane ends. Adds the copies' headers to `full`: in them every lane is active.
/// Returns whether there was one; then `loops` and `divergence` are stale.
bool add_main_loops(llvm::Function& function, llvm::LoopInfo& loops, const Divergence& divergence,
                    llvm::DenseSet<const llvm::BasicBlock*>& full);

} // namespace bessemer::metal::cpu
