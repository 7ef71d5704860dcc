// Neighbouring words that each thread loads become one load of a small vector.
#pragma once

#include "metal/cpu/analysis/shape.h"

#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Merges loads of 32-bit values from four neighbouring places where the lanes of a vector lie so
/// far apart that no load of one of them gets the values of two: records that passes/vectorize
/// loads whole and transposes, in place of a walk over the lanes for each member.
void merge_loads(llvm::Function& thread, const ShapeAnalysis& shapes);

} // namespace bessemer::metal::cpu
