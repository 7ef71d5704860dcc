// Thread memory that stays memory: the arrays of all lanes side by side.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace bessemer::metal::cpu {

/// Replaces every alloca of `function` by a place in the vector's private block (spmd.private). An
/// array whose accesses all have one size lies element by element, each with all lanes together, so
/// that equal indices give one vector access; any other has a copy for each lane.
/// Returns the block's size in bytes, a multiple of 64.
llvm::Expected<uint64_t> place_private_arrays(llvm::Function& function, int lanes);

} // namespace bessemer::metal::cpu
