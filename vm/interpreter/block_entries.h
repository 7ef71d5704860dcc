// What code in a block may take from accumulators at its beginning.
#pragma once

#include <vector>

#include "vm/bytecode/blocks.h"
#include "vm/interpreter/accumulators.h"

namespace bessemer::vm::interpreter {

// A way into a block: from which block, and what it leaves in the accumulators.
struct Arrival {
  size_t from;
  Accumulators held;
};

struct BlockEntry {
  Accumulators expected;
  std::vector<Arrival> arrivals;
  size_t cell = 0;         // where the block begins, for who brings what is expected
  size_t loading_cell = 0; // for the others, who load it first; 0: none yet
};

// Sets what each block expects, by its arrivals. Loops count: where they come back with a value,
// who enters them loads it once. Other blocks expect what all bring. False: nothing at all.
bool chooseEntries(const std::vector<bytecode::Block>& blocks, std::vector<BlockEntry>& entries);

// The operation's results are in its registers: what the accumulators held of those is old.
void overwriteResults(Accumulators& held, const bytecode::Instruction& instruction);

} // namespace bessemer::vm::interpreter
