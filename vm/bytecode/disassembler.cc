#include "vm/bytecode/disassembler.h"

#include <bit>

namespace bessemer::vm::bytecode {

namespace {

constexpr uint64_t kImportBit = 0x80000000;

// %R: the value moves out.
std::string textOf(Register reg) {
  return concat(reg.moves() ? "%R" : reg.isRef() ? "%r" : "%i", reg.index());
}

std::string textOf(const std::vector<Register>& list) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += concat(i ? ", " : "", textOf(list[i]));
  return text;
}

std::string textOf(const Branch& branch) {
  std::string text = concat("^", branch.target);
  if (branch.copies.empty())
    return text;
  text += "(";
  for (size_t i = 0; i < branch.copies.size(); ++i)
    text += concat(i ? ", " : "", textOf(branch.copies[i].source), "->",
                   textOf(branch.copies[i].target));
  return text + ")";
}

std::string calleeText(const Program& program, uint64_t callee) {
  if (callee & kImportBit) {
    callee &= ~kImportBit;
    if (callee < program.imports.size())
      return concat("@", program.imports[callee].full_name);
    return concat("@import ", callee);
  }
  if (callee < program.functions.size() && !program.functions[callee].name.empty())
    return concat("@", program.functions[callee].name);
  return concat("@function ", callee);
}

std::string immediateText(const Program& program, char operand, uint64_t value) {
  switch (operand) {
  case '4':
    return concat(static_cast<int32_t>(value));
  case '8':
    return concat(static_cast<int64_t>(value));
  case 'e':
    return concat(std::bit_cast<float>(static_cast<uint32_t>(value)));
  case 'd':
    return concat(std::bit_cast<double>(value));
  case 'g':
  case 'G':
    return concat("global[", value, "]");
  case 'n':
    return concat("global.ref[", value, "]");
  case 'o':
    return concat("rodata[", value, "]");
  case 't':
    return value < program.types.size() ? std::string(program.types[value].name)
                                        : concat("type ", value);
  default:
    return calleeText(program, value);
  }
}

} // namespace

std::string disassemble(const Program& program, const Instruction& instruction) {
  std::string results;
  std::string operands;
  auto addTo = [](std::string& list, std::string_view text) {
    list += concat(list.empty() ? "" : ", ", text);
  };
  size_t next_register = 0;
  size_t next_immediate = 0;
  size_t next_branch = 0;
  bool written = false;
  std::string_view specification = instruction.info->operands;
  for (size_t i = 0; i < specification.size(); ++i) {
    char operand = specification[i];
    switch (operand) {
    case '>':
      written = true;
      continue;
    case 'i':
    case 'I':
    case 'f':
    case 'F':
    case 'r':
    case 'R':
      addTo(written ? results : operands, textOf(instruction.registers[next_register++]));
      break;
    case 's':
      addTo(operands, concat("\"", instruction.text, "\""));
      break;
    case 'p':
      addTo(operands, textOf(instruction.branches[next_branch++]));
      break;
    case 'x':
      break; // with its branch
    case 'B':
      while (next_branch < instruction.branches.size())
        addTo(operands, textOf(instruction.branches[next_branch++]));
      break;
    case 'a':
      if (written)
        addTo(results, textOf(instruction.results));
      else if (!instruction.operands.empty())
        addTo(operands, textOf(instruction.operands));
      break;
    case 'L':
      ++i;
      addTo(operands, concat("[", textOf(instruction.operands), "]"));
      break;
    case 'S': {
      std::string segments;
      for (uint16_t segment : instruction.segments)
        addTo(segments, segment == 0xFFFF ? std::string("-") : concat(segment));
      addTo(operands, concat("segments(", segments, ")"));
      break;
    }
    default:
      addTo(operands, immediateText(program, operand, instruction.immediates[next_immediate++]));
      break;
    }
    written = false;
  }
  return concat(results, results.empty() ? "" : " = ", instruction.info->name,
                operands.empty() ? "" : " ", operands);
}

Result<std::string> disassembleFunction(const Program& program, size_t ordinal) {
  if (ordinal >= program.functions.size())
    return fail(StatusCode::OutOfRange, "there is no function ", ordinal);
  const FunctionDef& function = program.functions[ordinal];
  std::string text = concat(program.describe(ordinal), " ", function.signature->text, ", ",
                            function.word_count, " words, ", function.ref_count, " references\n");
  Instruction instruction;
  for (uint32_t pc = 0; pc < function.code.size(); pc = instruction.end) {
    BESSEMER_RETURN_IF_ERROR(decode(function.code, pc, instruction));
    std::string offset = concat(pc);
    text += concat(
        std::string(offset.size() < 6 ? 6 - offset.size() : 0, ' '), offset,
        instruction.op == Op::Block ? " ^" : "   ",
        instruction.op == Op::Block ? concat(pc, ":") : disassemble(program, instruction), "\n");
  }
  return text;
}

} // namespace bessemer::vm::bytecode
