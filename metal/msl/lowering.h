// From the module that clang makes to one in AIR's conventions.
#pragma once

#include "metal/msl/compiler.h"
#include "metal/msl/reflection.h"

#include "llvm/Support/Error.h"

namespace bessemer::msl {

/// - kernels get the host's names and `!air.kernel` metadata, everything else becomes internal;
/// - function constants become globals without value, listed in `!air.function_constants`;
/// - `air.maybe_fast_*` becomes the fast or the precise function, by the math mode;
/// - conversions from float to integer saturate, as the hardware's do;
/// - annotations, which have done their work, go.
llvm::Error lower(llvm::Module& module, const Reflection& reflection, const Options& options);

} // namespace bessemer::msl
