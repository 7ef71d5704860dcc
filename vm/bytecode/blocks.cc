#include "vm/bytecode/blocks.h"

#include <algorithm>

namespace bessemer::vm::bytecode {

namespace {

bool contains(const std::vector<uint16_t>& words, uint16_t word) {
  return std::ranges::find(words, word) != words.end();
}

} // namespace

Result<std::vector<Block>> readBlocks(const FunctionDef& function) {
  std::vector<Block> blocks;
  Instruction instruction;
  for (uint32_t pc = 0; pc < function.code.size(); pc = instruction.end) {
    BESSEMER_RETURN_IF_ERROR(decode(function.code, pc, instruction));
    if (instruction.op == Op::Block)
      blocks.push_back({pc, {}});
    else
      blocks.back().instructions.push_back(instruction);
  }
  return blocks;
}

size_t findBlock(const std::vector<Block>& blocks, uint32_t pc) {
  return static_cast<size_t>(std::ranges::lower_bound(blocks, pc, {}, &Block::pc) - blocks.begin());
}

WordEffects::WordEffects(const Instruction& instruction) {
  auto both = [](std::vector<uint16_t>& words, uint16_t index) {
    words.push_back(index);
    words.push_back(static_cast<uint16_t>(index + 1));
  };
  size_t next = 0;
  bool written = false;
  std::string_view operands = instruction.info->operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    char operand = operands[i];
    if (operand == '>') {
      written = true;
      continue;
    }
    if (operand == 'L')
      ++i; // the list's kind
    if (std::string_view("iIfFrR").find(operand) != std::string_view::npos) {
      Register reg = instruction.registers[next++];
      bool wide = operand == 'I' || operand == 'F';
      if (!reg.isRef()) {
        for (uint16_t word = 0; word <= (wide ? 1 : 0); ++word) {
          auto index = static_cast<uint16_t>(reg.index() + word);
          if (written) {
            writes.push_back(index);
            kills.push_back(index);
          } else {
            reads.push_back(index);
          }
        }
      }
    }
    written = false;
  }
  // The width of what is in lists depends on a signature: both words count.
  for (Register reg : instruction.operands)
    if (!reg.isRef())
      both(reads, reg.index());
  for (Register reg : instruction.results)
    if (!reg.isRef())
      both(writes, reg.index());
}

WordLiveness::WordLiveness(const std::vector<Block>& blocks, uint32_t word_count) {
  // One more than there are: effects of lists count a word past each.
  size_t size = word_count / 64 + 1;
  std::vector<std::vector<uint64_t>> uses(blocks.size(), std::vector<uint64_t>(size));
  std::vector<std::vector<uint64_t>> kills = uses;
  auto insert = [](std::vector<uint64_t>& set, uint16_t word) {
    set[word / 64] |= uint64_t{1} << word % 64;
  };
  auto has = [](const std::vector<uint64_t>& set, uint16_t word) {
    return set[word / 64] >> word % 64 & 1;
  };
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const Instruction& instruction : blocks[b].instructions) {
      WordEffects effects(instruction);
      for (uint16_t word : effects.reads)
        if (!has(kills[b], word))
          insert(uses[b], word);
      for (uint16_t word : effects.kills)
        insert(kills[b], word);
    }
  }
  sets_ = uses;
  // Backwards until nothing changes: loops take a second round.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      std::vector<uint64_t> out(size);
      for (const Instruction& instruction : blocks[b].instructions) {
        for (const Branch& branch : instruction.branches) {
          std::vector<uint64_t> edge = sets_[findBlock(blocks, branch.target)];
          for (Copy copy : branch.copies)
            if (!copy.target.isRef())
              edge[copy.target.index() / 64] &= ~(uint64_t{1} << copy.target.index() % 64);
          for (Copy copy : branch.copies)
            if (!copy.source.isRef())
              insert(edge, copy.source.index());
          for (size_t k = 0; k < size; ++k)
            out[k] |= edge[k];
        }
      }
      // A failure that is none falls through.
      if (!blocks[b].instructions.empty() && blocks[b].instructions.back().op == Op::Fail &&
          b + 1 < blocks.size())
        for (size_t k = 0; k < size; ++k)
          out[k] |= sets_[b + 1][k];
      for (size_t k = 0; k < size; ++k) {
        uint64_t in = uses[b][k] | (out[k] & ~kills[b][k]);
        changed |= in != sets_[b][k];
        sets_[b][k] = in;
      }
    }
  }
}

namespace {

// Only its last register is written, and that is a word of known width.
bool hasSimpleResult(const Instruction& instruction) {
  std::string_view operands = instruction.info->operands;
  return operands.size() >= 2 && operands[operands.size() - 2] == '>' &&
         std::string_view("iIfF").find(operands.back()) != std::string_view::npos &&
         operands.find_first_of("aLSpxBcsm") == std::string_view::npos;
}

bool isWideResult(const Instruction& instruction) {
  char letter = instruction.info->operands.back();
  return letter == 'I' || letter == 'F';
}

// The copy that begins at `index` of a branch: one word, or a pair's two.
struct Value {
  uint16_t source, target;
  bool wide;
  bool touches(uint16_t word) const {
    return word == source || word == target || (wide && (word == source + 1 || word == target + 1));
  }
};

bool tryCoalesce(Block& block, const Value& value) {
  std::vector<uint16_t> source = {value.source};
  std::vector<uint16_t> target = {value.target};
  if (value.wide) {
    source.push_back(static_cast<uint16_t>(value.source + 1));
    target.push_back(static_cast<uint16_t>(value.target + 1));
  }
  auto meets = [](const std::vector<uint16_t>& words, const std::vector<uint16_t>& others) {
    return std::ranges::any_of(words, [&](uint16_t word) { return contains(others, word); });
  };
  // From the branch back to where the source is computed.
  for (size_t k = block.instructions.size() - 1; k-- > 0;) {
    Instruction& instruction = block.instructions[k];
    WordEffects effects(instruction);
    if (meets(source, effects.writes)) {
      if (!hasSimpleResult(instruction) || isWideResult(instruction) != value.wide ||
          instruction.registers.back().bits != value.source)
        return false;
      instruction.registers.back().bits = value.target;
      return true;
    }
    if (meets(source, effects.reads) || meets(target, effects.reads) ||
        meets(target, effects.writes))
      return false;
  }
  return false;
}

void coalesceBlock(std::vector<Block>& blocks, size_t index, const WordLiveness& liveness) {
  Block& block = blocks[index];
  if (block.instructions.empty() || block.instructions.back().op != Op::Br)
    return;
  Branch& branch = block.instructions.back().branches[0];
  size_t target = findBlock(blocks, branch.target);
  for (size_t i = 0; i < branch.copies.size();) {
    Copy copy = branch.copies[i];
    if (copy.source.isRef()) {
      ++i;
      continue;
    }
    Value value{copy.source.index(), copy.target.index(), false};
    value.wide = value.source % 2 == 0 && value.target % 2 == 0 && i + 1 < branch.copies.size() &&
                 branch.copies[i + 1].source.bits == value.source + 1 &&
                 branch.copies[i + 1].target.bits == value.target + 1;
    size_t count = value.wide ? 2 : 1;
    bool alone = value.source != value.target;
    for (size_t k = 0; alone && k < branch.copies.size(); ++k) {
      Copy other = branch.copies[k];
      if ((k < i || k >= i + count) && !other.source.isRef())
        alone = !value.touches(other.source.index()) && !value.touches(other.target.index());
    }
    bool dead = true;
    for (uint16_t word = 0; word < count; ++word)
      dead = dead && !liveness.liveIn(target, static_cast<uint16_t>(value.source + word));
    if (alone && dead && tryCoalesce(block, value))
      branch.copies.erase(branch.copies.begin() + static_cast<ptrdiff_t>(i),
                          branch.copies.begin() + static_cast<ptrdiff_t>(i + count));
    else
      i += count;
  }
}

} // namespace

void coalesceCopies(std::vector<Block>& blocks, uint32_t word_count) {
  // The sets are as large as blocks × words: nothing for functions that nobody writes by hand.
  constexpr size_t kMaxBits = size_t{1} << 22;
  bool any = std::ranges::any_of(blocks, [](const Block& block) {
    return !block.instructions.empty() && block.instructions.back().op == Op::Br &&
           !block.instructions.back().branches[0].copies.empty();
  });
  if (!any || blocks.size() * size_t{word_count} > kMaxBits)
    return;
  WordLiveness liveness(blocks, word_count);
  for (size_t b = 0; b < blocks.size(); ++b)
    coalesceBlock(blocks, b, liveness);
}

} // namespace bessemer::vm::bytecode
