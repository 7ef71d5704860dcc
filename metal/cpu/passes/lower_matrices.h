// Simdgroup matrices: of AIR's <64 x T>, of which only two elements are the lane's own, two scalars
// are left.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace bessemer::metal::cpu {

/// Replaces every value of type <64 x T> in `function` by two scalars, and the air.simdgroup_matrix
/// operations by plain loads, stores and spmd.matrix_multiply. Lane l holds row (l/4 & 4) + l/2 % 4
/// and the columns (l/4 & 2) * 2 + l % 2 * 2 and the one after.
llvm::Error lower_matrices(llvm::Function& function);

} // namespace bessemer::metal::cpu
