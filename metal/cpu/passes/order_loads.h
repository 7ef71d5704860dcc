// Memory is read in the order that it lies in.
#pragma once

#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Orders the vector loads of straight-line code by their addresses, and what uses them after them,
/// if about `registers` vector registers hold what is alive then. Processors fetch ahead of reads
/// that go up through memory without a gap, and of few others.
void order_loads(llvm::Function& function, unsigned registers);

} // namespace bessemer::metal::cpu
