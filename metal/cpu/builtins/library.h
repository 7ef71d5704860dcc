// The built-in library: bodies of Metal's mathematical functions, as bitcode inside the program.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace bessemer::metal::cpu {

/// Gives `module` the bodies of the bessemer.math.* functions that it declares. One that the
/// library does not have is an error that names it.
llvm::Error link_builtins(llvm::Module& module);

} // namespace bessemer::metal::cpu
