// AIR's operations on a thread's own values become LLVM instructions or calls of the built-in
// library; operations between threads become scalar.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace bessemer::metal::cpu {

/// Rewrites every air.* call of `function`. Mathematical, integer, conversion and thread operations
/// disappear; what is left are scalar air.simd_*, air.quad_*, air.atomic.*, the barriers and
/// spmd.matrix_multiply. An operation that is not known is an error that names it.
llvm::Error lower_operations(llvm::Function& function);

} // namespace bessemer::metal::cpu
