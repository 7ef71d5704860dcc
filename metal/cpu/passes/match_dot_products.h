// Sums of products of bytes that lie in words become dot products of four bytes.
#pragma once

#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// Finds sums whose terms are (byte of a word, or some of its bits, plus a constant) times (the
/// byte at the same place of another word), and puts spmd.dot4 calls in their place. For targets
/// that have the instruction; exact, since all sums are modulo 2^32.
void match_dot_products(llvm::Function& thread);

} // namespace bessemer::metal::cpu
