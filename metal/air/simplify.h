// The optimisations that a front end does before anyone knows the machine.
#pragma once

#include "llvm/IR/Module.h"

namespace bessemer::air {

/// Inlines helpers and brings a module of clang's into the shape that Apple's compiler gives AIR:
/// no memory where a value will do, no casts between address spaces, control flow tidied, loops
/// rotated, and unrolled where their counter picks from a private array. Doing it twice does no
/// harm.
void simplify(llvm::Module& module);

} // namespace bessemer::air
