// A function as basic blocks, and which words are live where they begin.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/bytecode/program.h"

namespace bessemer::vm::bytecode {

struct Block {
  uint32_t pc = 0; // of the marker
  std::vector<Instruction> instructions;
};

// The blocks of a verified function, in order.
Result<std::vector<Block>> readBlocks(const FunctionDef& function);

// Index of the block at `pc`, which is one.
size_t findBlock(const std::vector<Block>& blocks, uint32_t pc);

// What an operation does to words. `reads` and `writes` may name too many, never too few; `kills`
// are written for sure.
struct WordEffects {
  std::vector<uint16_t> reads, writes, kills;
  explicit WordEffects(const Instruction& instruction);
};

// Of each block, the words whose value at its beginning may be read later.
class WordLiveness {
public:
  WordLiveness(const std::vector<Block>& blocks, uint32_t word_count);
  bool liveIn(size_t block, uint16_t word) const {
    return sets_[block][word / 64] >> (word % 64) & 1;
  }

private:
  std::vector<std::vector<uint64_t>> sets_;
};

// Where a block ends by branching with a copy of a value that it has just computed and that nobody
// else needs, computes the value in the copy's target instead. What the function does stays the
// same.
void coalesceCopies(std::vector<Block>& blocks, uint32_t word_count);

} // namespace bessemer::vm::bytecode
