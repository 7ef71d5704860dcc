// One function instead of many.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace bessemer::metal::cpu {

/// Inlines every call of a function with a body into `function`, whatever its attributes ask for.
/// Recursion is an error.
llvm::Error inline_calls(llvm::Function& function);

} // namespace bessemer::metal::cpu
