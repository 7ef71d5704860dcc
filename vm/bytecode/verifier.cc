#include "vm/bytecode/verifier.h"

#include <algorithm>

namespace bessemer::vm::bytecode {

namespace {

template <class... Parts>
std::unexpected<Error> invalid(const Parts&... parts) {
  return fail(StatusCode::InvalidArgument, parts...);
}

bool isWide(ValueType type) { return type == ValueType::I64 || type == ValueType::F64; }

ValueType typeOfOperand(char operand) {
  switch (operand) {
  case 'i':
    return ValueType::I32;
  case 'I':
    return ValueType::I64;
  case 'f':
    return ValueType::F32;
  case 'F':
    return ValueType::F64;
  default:
    return ValueType::Ref;
  }
}

class FunctionVerifier {
public:
  FunctionVerifier(const Program& program, const FunctionDef& function)
      : program_(program), function_(function) {}

  Result<void> run() {
    ArgumentLayout arguments(*function_.signature);
    if (arguments.word_count > function_.word_count || arguments.ref_count > function_.ref_count)
      return invalid("the arguments do not fit in ", function_.word_count, " words and ",
                     function_.ref_count, " references");
    uint32_t pc = 0;
    bool in_block = false;
    while (pc < function_.code.size()) {
      BESSEMER_RETURN_IF_ERROR(decode(function_.code, pc, instruction_));
      if (instruction_.op == Op::Block) {
        if (in_block)
          return invalid("block at offset ", pc, " begins before the last one has ended");
        blocks_.push_back(pc);
        in_block = true;
      } else {
        auto checked = in_block ? checkInstruction()
                                : Result<void>(invalid("the operation is outside of a block"));
        if (!checked)
          return std::unexpected(std::move(checked.error())
                                     .prefix(concat(instruction_.info->name, " at offset ", pc)));
        if (instruction_.info->terminator)
          in_block = false;
      }
      pc = instruction_.end;
    }
    if (in_block)
      return invalid("the last block has no end");
    return checkBlocks();
  }

private:
  Result<void> checkBlocks() {
    if (blocks_.empty() || blocks_[0] != 0)
      return invalid("the function does not begin with a block");
    if (blocks_.size() != function_.block_count)
      return invalid(blocks_.size(), " blocks where ", function_.block_count, " are declared");
    for (auto [target, pc] : branches_)
      if (!std::ranges::binary_search(blocks_, target))
        return invalid("the branch at offset ", pc, " goes to ", target, ", where no block begins");
    return {};
  }

  Result<void> checkRegister(Register reg, ValueType type, bool may_move) {
    if (type == ValueType::Ref) {
      if (!reg.isRef())
        return invalid("register i", reg.index(), " is not a reference");
      if (reg.index() >= function_.ref_count)
        return invalid("register r", reg.index(), " is outside of the declared ",
                       function_.ref_count);
      if (reg.moves() && !may_move)
        return invalid("register r", reg.index(), " may not be moved here");
      return {};
    }
    if (reg.isRef())
      return invalid("register r", reg.index(), " is a reference, not a number");
    uint32_t width = isWide(type) ? 2 : 1;
    if (reg.index() + width > function_.word_count)
      return invalid("register i", reg.index(), " is outside of the declared ",
                     function_.word_count);
    if (isWide(type) && reg.index() % 2)
      return invalid("register i", reg.index(), " begins no pair: it is odd");
    return {};
  }

  Result<void> checkList(const std::vector<Register>& list, std::span<const ValueType> types,
                         std::string_view what) {
    if (list.size() != types.size())
      return invalid(list.size(), " ", what, " where the signature has ", types.size());
    for (size_t i = 0; i < list.size(); ++i)
      BESSEMER_RETURN_IF_ERROR(checkRegister(list[i], types[i], true));
    return {};
  }

  // A list of registers of any kind, each at least a word.
  Result<void> checkAnyList(const std::vector<Register>& list) {
    for (Register reg : list)
      BESSEMER_RETURN_IF_ERROR(
          checkRegister(reg, reg.isRef() ? ValueType::Ref : ValueType::I32, true));
    return {};
  }

  Result<void> checkBranch(const Branch& branch) {
    branches_.push_back({branch.target, instruction_.pc});
    for (Copy copy : branch.copies) {
      ValueType type = copy.source.isRef() ? ValueType::Ref : ValueType::I32;
      BESSEMER_RETURN_IF_ERROR(checkRegister(copy.source, type, true));
      BESSEMER_RETURN_IF_ERROR(checkRegister(copy.target, type, true));
    }
    return {};
  }

  Result<void> checkOrdinal(std::string_view what, uint64_t ordinal, size_t count) {
    if (ordinal >= count)
      return invalid("there is no ", what, " ", ordinal, " (the module has ", count, ")");
    return {};
  }

  Result<void> checkImmediate(char operand, uint64_t value) {
    switch (operand) {
    case 'g':
    case 'G': {
      uint64_t width = operand == 'g' ? 4 : 8;
      if (value + width > program_.global_bytes)
        return invalid("global at ", value, " is outside of the declared ", program_.global_bytes,
                       " bytes");
      return {};
    }
    case 'n':
      return checkOrdinal("global reference", value, program_.global_refs);
    case 'o':
      return checkOrdinal("rodata", value, program_.rodata.size());
    case 't':
      return checkOrdinal("type", value, program_.types.size());
    case 'm':
      if (!(value & kImportBit))
        return invalid("function ", value, " is not an import");
      return checkOrdinal("import", value & ~kImportBit, program_.imports.size());
    default:
      return {};
    }
  }

  // Callee, segments, operands and results of one of the four calls.
  Result<void> checkCall() {
    uint64_t callee = instruction_.immediates[0];
    bool imported = callee & kImportBit;
    callee &= ~kImportBit;
    BESSEMER_RETURN_IF_ERROR(
        checkOrdinal(imported ? "import" : "function", callee,
                     imported ? program_.imports.size() : program_.functions.size()));
    const Signature& signature =
        imported ? *program_.imports[callee].signature : *program_.functions[callee].signature;
    bool variadic =
        instruction_.op == Op::CallVariadic || instruction_.op == Op::CallVariadicYieldable;
    if (!variadic && signature.hasSpans())
      return invalid("the callee takes variadic arguments");
    if (variadic && instruction_.segments.size() != signature.arguments.size())
      return invalid(instruction_.segments.size(), " segments where the signature has ",
                     signature.arguments.size());
    types_.clear();
    for (size_t i = 0; i < signature.arguments.size(); ++i) {
      const Signature::Item& item = signature.arguments[i];
      uint16_t segment = variadic ? instruction_.segments[i] : kNoSpan;
      if (item.isSpan() != (segment != kNoSpan))
        return invalid("segment ", i, " does not match the signature");
      if (!item.isSpan())
        types_.push_back(item.type);
      else if (size_t{segment} * item.tuple.size() > instruction_.operands.size())
        return invalid("segment ", i, " has more values than the call");
      else
        for (uint16_t tuple = 0; tuple < segment; ++tuple)
          types_.insert(types_.end(), item.tuple.begin(), item.tuple.end());
    }
    BESSEMER_RETURN_IF_ERROR(checkList(instruction_.operands, types_, "arguments"));
    return checkList(instruction_.results, signature.results, "results");
  }

  Result<void> checkReturn() {
    return checkList(instruction_.operands, function_.signature->results, "results");
  }

  Result<void> checkInstruction() {
    uint32_t prefix = static_cast<uint32_t>(instruction_.op) >> 8;
    if ((prefix == 1 && !(function_.requirements & kFeatureF32)) ||
        (prefix == 2 && !(function_.requirements & kFeatureF64)))
      return invalid("the function does not declare that it needs floating point");
    size_t next_register = 0;
    size_t next_immediate = 0;
    std::string_view operands = instruction_.info->operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      char operand = operands[i];
      switch (operand) {
      case 'i':
      case 'I':
      case 'f':
      case 'F':
      case 'r':
      case 'R':
        BESSEMER_RETURN_IF_ERROR(checkRegister(instruction_.registers[next_register++],
                                               typeOfOperand(operand), operand == 'R'));
        break;
      case '4':
      case '8':
      case 'e':
      case 'd':
      case 'c':
      case 'g':
      case 'G':
      case 'n':
      case 'o':
      case 't':
      case 'm':
        BESSEMER_RETURN_IF_ERROR(
            checkImmediate(operand, instruction_.immediates[next_immediate++]));
        break;
      case 'L':
        for (Register reg : instruction_.operands)
          BESSEMER_RETURN_IF_ERROR(checkRegister(reg, typeOfOperand(operands[i + 1]), true));
        ++i;
        break;
      default:
        break;
      }
    }
    for (const Branch& branch : instruction_.branches)
      BESSEMER_RETURN_IF_ERROR(checkBranch(branch));
    switch (instruction_.op) {
    case Op::Call:
    case Op::CallVariadic:
    case Op::CallYieldable:
    case Op::CallVariadicYieldable:
      return checkCall();
    case Op::Return:
      return checkReturn();
    case Op::Trace:
    case Op::Print:
      return checkAnyList(instruction_.operands);
    case Op::DiscardRefs:
      for (Register reg : instruction_.operands)
        BESSEMER_RETURN_IF_ERROR(checkRegister(reg, ValueType::Ref, true));
      return {};
    case Op::GlobalLoadRef:
    case Op::GlobalStoreRef:
      return checkReferenceType(instruction_.immediates[1]);
    case Op::GlobalLoadIndirectRef:
    case Op::GlobalStoreIndirectRef:
    case Op::ListGetRef:
    case Op::SelectRef:
    case Op::SwitchRef:
    case Op::CastAnyRef:
      return checkReferenceType(instruction_.immediates[0]);
    default:
      return {};
    }
  }

  Result<void> checkReferenceType(uint64_t ordinal) {
    if (!program_.types[ordinal].takesReferences())
      return invalid("type ", program_.types[ordinal].name, " is not a reference");
    return {};
  }

  static constexpr uint64_t kImportBit = 0x80000000;
  static constexpr uint16_t kNoSpan = 0xFFFF;

  const Program& program_;
  const FunctionDef& function_;
  Instruction instruction_;
  std::vector<uint32_t> blocks_; // offsets of block markers, ascending
  struct BranchSite {
    uint32_t target;
    uint32_t pc;
  };
  std::vector<BranchSite> branches_;
  std::vector<ValueType> types_;
};

} // namespace

Result<void> verifyFunction(const Program& program, size_t ordinal) {
  auto result = FunctionVerifier(program, program.functions[ordinal]).run();
  if (!result)
    return std::unexpected(std::move(result.error()).prefix(program.describe(ordinal)));
  return {};
}

} // namespace bessemer::vm::bytecode
