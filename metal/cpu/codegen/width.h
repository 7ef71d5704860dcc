// How many threads run side by side in one vector.
#pragma once

#include "metal/cpu/codegen/target.h"

#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Lanes for a simplified thread function: 32 where lanes of a simdgroup speak to each other or the
/// threadgroup's size is open; else what the registers allow.
int choose_lanes(llvm::Function& function, const KernelOptions& options,
                 const TargetTraits& traits);

} // namespace bessemer::metal::cpu
