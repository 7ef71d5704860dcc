// Vectors of many lanes become several that each fit a register.
#pragma once

#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Splits vectors of more than `lanes` lanes into ones of `lanes`, in the order of the lanes: what
/// is left for code generation is in the order that it should run in, and every later pass sees
/// values that are registers. Instructions that cannot be split are given whole vectors, put
/// together from the parts. `lanes` is a power of two.
void split_vectors(llvm::Function& function, unsigned lanes);

} // namespace bessemer::metal::cpu
