#include "vm/interpreter/block_entries.h"

#include <algorithm>

#include "vm/interpreter/handlers.h"

namespace bessemer::vm::interpreter {

namespace {

// Whether `block` takes the register's value from its accumulator before it is gone.
bool uses(const bytecode::Block& block, Bank bank, uint16_t reg) {
  for (const bytecode::Instruction& instruction : block.instructions) {
    const HandlerForms& handlers = simpleHandlers()[static_cast<size_t>(instruction.op)];
    for (size_t i = 0; i < handlers.operand_count; ++i)
      if (handlers.operands[i] == bank && instruction.registers[i].index() == reg)
        return true;
    Accumulators held;
    held.put(bank, reg);
    overwriteResults(held, instruction);
    if (held.empty())
      return false;
  }
  return false;
}

} // namespace

void overwriteResults(Accumulators& held, const bytecode::Instruction& instruction) {
  for (uint16_t word : bytecode::WordEffects(instruction).writes)
    held.overwrite(word);
}

bool chooseEntries(const std::vector<bytecode::Block>& blocks, std::vector<BlockEntry>& entries) {
  bool any = false;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const std::vector<Arrival>& arrivals = entries[b].arrivals;
    const bool loops =
        std::ranges::any_of(arrivals, [&](const Arrival& arrival) { return arrival.from >= b; });
    const Accumulators* first = nullptr;
    Accumulators& expected = entries[b].expected;
    expected = {};
    for (const Arrival& arrival : arrivals) {
      if (loops && arrival.from < b)
        continue;
      if (!first)
        expected = *(first = &arrival.held);
      else
        expected.intersect(arrival.held);
    }
    expected.keepIf([&](Bank bank, uint16_t reg) { return uses(blocks[b], bank, reg); });
    any |= !expected.empty();
  }
  return any;
}

} // namespace bessemer::vm::interpreter
