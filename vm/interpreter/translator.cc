#include "vm/interpreter/translator.h"

#include <algorithm>

#include "vm/bytecode/blocks.h"
#include "vm/bytecode/disassembler.h"
#include "vm/interpreter/block_entries.h"
#include "vm/interpreter/handlers.h"

namespace bessemer::vm::interpreter {

namespace {

using bytecode::ArgumentLayout;
using bytecode::Branch;
using bytecode::Copy;
using bytecode::FunctionDef;
using bytecode::Instruction;
using bytecode::Op;
using bytecode::Program;
using bytecode::Register;

constexpr uint64_t kImportBit = 0x80000000;

// A register as an operand cell holds it.
uint16_t encode(Register reg) {
  return static_cast<uint16_t>(reg.index() | (reg.moves() ? kMoveBit : 0));
}

bool isWide(ValueType type) { return type == ValueType::I64 || type == ValueType::F64; }

ArgumentLayout resultLayout(const Signature& signature) {
  Signature results;
  for (ValueType type : signature.results)
    results.arguments.push_back({type, {}});
  return ArgumentLayout(results);
}

// Registers in three groups: words, wide words, references. Both ends of a call agree on the order,
// since both follow the same signature.
struct Groups {
  std::vector<size_t> words, wide_words, refs; // indices of values

  void add(ValueType type, size_t index) {
    (type == ValueType::Ref ? refs : isWide(type) ? wide_words : words).push_back(index);
  }
  explicit Groups(const std::vector<ValueType>& types) {
    for (size_t i = 0; i < types.size(); ++i)
      add(types[i], i);
  }
  explicit Groups(const std::vector<Signature::Item>& items) {
    for (size_t i = 0; i < items.size(); ++i)
      add(items[i].type, i);
  }
  template <class Visit>
  void forEach(Visit visit) const {
    for (const std::vector<size_t>* group : {&words, &wide_words, &refs})
      for (size_t index : *group)
        visit(index);
  }
};

class FunctionTranslator {
public:
  FunctionTranslator(const Program& program, size_t ordinal,
                     const std::vector<std::unique_ptr<FunctionCode>>& functions, bool trace)
      : program_(program), function_(program.functions[ordinal]), ordinal_(ordinal),
        functions_(functions), code_(*functions[ordinal]), trace_(trace) {}

  Result<void> run() {
    emitHostReturn();
    BESSEMER_ASSIGN_OR_RETURN(blocks_, bytecode::readBlocks(function_));
    entries_.resize(blocks_.size());
    // Traces show the operations as they are in the file.
    if (!trace_) {
      bytecode::coalesceCopies(blocks_, function_.word_count);
      BESSEMER_RETURN_IF_ERROR(emitAll());
      // Now it is known what every way into a block leaves in the accumulators.
      if (!chooseEntries(blocks_, entries_)) {
        link();
        return {};
      }
      restart();
    }
    BESSEMER_RETURN_IF_ERROR(emitAll());
    link();
    return {};
  }

private:
  // Where a branch goes: a block, or code that first makes the branch's copies.
  struct Destination {
    bool edge = false;
    uint32_t index = 0; // byte offset of the block; or index in edges_
  };
  struct Fixup {
    size_t cell;
    Destination destination;
    Accumulators held;
  };
  struct Edge {
    Branch branch;
    uint32_t pc; // of the operation that branches
    size_t cell = 0;
    size_t from = 0; // the block that branches
    Accumulators held;
  };

  size_t size() const { return code_.cells.size(); }
  Cell& add() { return code_.cells.emplace_back(Cell{.i64 = 0}); }
  void put(Handler* handler) { add().handler = handler; }
  void putNumber(int64_t value) { add().i64 = value; }
  void putPointer(const void* pointer) { add().pointer = pointer; }
  void putRegisters(std::initializer_list<uint16_t> registers) {
    Cell& cell = add();
    std::ranges::copy(registers, cell.reg);
  }
  // Any number of 16-bit values, four to a cell.
  void putPacked(const std::vector<uint16_t>& values) {
    for (size_t i = 0; i < values.size(); i += 4) {
      Cell& cell = add();
      for (size_t k = 0; k < 4 && i + k < values.size(); ++k)
        cell.reg[k] = values[i + k];
    }
  }
  void putTarget(Destination destination) {
    fixups_.push_back({size(), destination, held_});
    if (!destination.edge)
      entryOf(destination.index).arrivals.push_back({block_, held_});
    add();
  }
  BlockEntry& entryOf(uint32_t pc) { return entries_[bytecode::findBlock(blocks_, pc)]; }

  Result<void> emitAll() {
    // The beginning of the function is a way in as well, with nothing.
    held_ = {};
    falls_through_ = true;
    for (block_ = 0; block_ < blocks_.size(); ++block_) {
      next_pc_ = block_ + 1 < blocks_.size() ? blocks_[block_ + 1].pc : UINT32_MAX;
      enterBlock();
      for (const Instruction& instruction : blocks_[block_].instructions) {
        instruction_ = &instruction;
        BESSEMER_RETURN_IF_ERROR(emitInstruction());
      }
    }
    begin(static_cast<uint32_t>(function_.code.size()));
    put(failAlways);
    emitEdges();
    emitLoads();
    return {};
  }

  void enterBlock() {
    BlockEntry& entry = entries_[block_];
    last_ = {};
    if (falls_through_) {
      entry.arrivals.push_back({block_ == 0 ? 0 : block_ - 1, held_});
      if (!held_.covers(entry.expected)) {
        entry.loading_cell = size();
        begin(blocks_[block_].pc);
        emitLoad(entry.expected);
      }
    }
    falls_through_ = false;
    entry.cell = size();
    held_ = entry.expected;
  }

  void emitLoad(const Accumulators& values) {
    values.forEachPut([&](Bank bank, uint16_t reg) {
      put(accumulateHandler(bank));
      putRegisters({reg});
    });
  }

  // Ways into blocks that do not bring what is expected there, and no code to fall through yet.
  void emitLoads() {
    size_t count = fixups_.size(); // those that follow bring what they load
    for (size_t i = 0; i < count; ++i) {
      const Fixup fixup = fixups_[i];
      if (fixup.destination.edge)
        continue;
      BlockEntry& entry = entryOf(fixup.destination.index);
      if (entry.loading_cell || fixup.held.covers(entry.expected))
        continue;
      entry.loading_cell = size();
      begin(fixup.destination.index);
      emitLoad(entry.expected);
      held_ = entry.expected;
      put(jump);
      putTarget(fixup.destination);
    }
  }

  // Forgets what was emitted, but for what blocks expect.
  void restart() {
    code_.cells.clear();
    code_.positions.clear();
    code_.import_calls.clear();
    edges_.clear();
    fixups_.clear();
    for (BlockEntry& entry : entries_)
      entry = {entry.expected, {}, 0, 0};
  }

  // The form of a simple operation whose operands are where they are now.
  size_t formOf(const HandlerForms& handlers, const std::vector<Register>& registers) const {
    if (!handlers.forms || trace_)
      return 0;
    size_t form = 0;
    for (size_t i = handlers.operand_count; i-- > 0;)
      form = form * kSourceCount +
             static_cast<size_t>(held_.find(handlers.operands[i], registers[i].index()));
    return form;
  }

  // The handler of a simple operation; its result is in an accumulator then.
  void putSimple(const Instruction& instruction) {
    const HandlerForms& handlers = simpleHandlers()[static_cast<size_t>(instruction.op)];
    const Accumulators before = held_;
    const size_t form = formOf(handlers, instruction.registers);
    const size_t cell = size();
    put(handlers.forms ? handlers.forms[form] : handlers.plain);
    overwriteResults(held_, instruction);
    if (handlers.result != Bank::None)
      held_.put(handlers.result, instruction.registers.back().index());
    if (!instruction.registers.empty())
      last_ = {instruction.op, cell, instruction.registers.back().index(), form, before};
  }
  void begin(uint32_t pc) { code_.positions.push_back({static_cast<uint32_t>(size()), pc}); }

  Destination destinationOf(const Branch& branch) {
    if (branch.copies.empty())
      return {false, branch.target};
    edges_.push_back({branch, instruction_->pc, 0, block_, held_});
    return {true, static_cast<uint32_t>(edges_.size() - 1)};
  }

  // The copies of a branch, in order within each bank; a 64-bit value's two words are joined. With
  // `target`, a jump there follows.
  void emitCopies(const std::vector<Copy>& copies, const Destination* target) {
    std::vector<uint16_t> words;
    std::vector<uint16_t> refs;
    size_t wide = 0;
    for (size_t i = 0; i < copies.size(); ++i) {
      Copy copy = copies[i];
      if (copy.source.isRef()) {
        refs.push_back(encode(copy.source));
        refs.push_back(copy.target.index());
        continue;
      }
      uint16_t source = copy.source.index();
      uint16_t to = copy.target.index();
      bool pair = source % 2 == 0 && to % 2 == 0 && i + 1 < copies.size() &&
                  copies[i + 1].source.bits == source + 1 && copies[i + 1].target.bits == to + 1;
      words.push_back(source);
      words.push_back(static_cast<uint16_t>(to | (pair ? kWideBit : 0)));
      if (pair) {
        ++wide;
        ++i;
      }
    }
    for (const Copy& copy : copies)
      if (!copy.target.isRef())
        held_.overwrite(copy.target.index());
    if (!refs.empty()) {
      put(copyRefs);
      putNumber(static_cast<int64_t>(refs.size() / 2));
      putPacked(refs);
    }
    size_t count = words.size() / 2;
    if (count == 0) {
      if (target) {
        put(jump);
        putTarget(*target);
      }
    } else if (count <= kMaxPlainCopies && (wide == 0 || wide == count)) {
      for (size_t i = 1; i < words.size(); i += 2)
        words[i] &= static_cast<uint16_t>(~kWideBit);
      put(copyHandler(count, wide != 0, target != nullptr));
      putPacked(words);
      if (target)
        putTarget(*target);
    } else {
      put(copyWords);
      putNumber(static_cast<int64_t>(count));
      putPacked(words);
      if (target) {
        put(jump);
        putTarget(*target);
      }
    }
  }

  bool isNext(const Branch& branch) const { return branch.target == next_pc_; }

  // Copies and jump; no jump to the block that is next anyway. Where the target only compares and
  // branches, as the head of a loop does, or is a few operations before a branch, that is done here
  // and now.
  void emitBranch(const Branch& branch) {
    Destination target{false, branch.target};
    if (isNext(branch)) {
      emitCopies(branch.copies, nullptr);
      falls_through_ = true;
      return;
    }
    const bytecode::Block& block = blocks_[bytecode::findBlock(blocks_, branch.target)];
    if (!trace_ && isCompareAndBranch(block)) {
      emitCopies(branch.copies, nullptr);
      const Instruction& comparison = block.instructions[0];
      begin(comparison.pc);
      if (!branch.copies.empty())
        last_ = {};
      emitComparison(comparison);
      emitFusedBranch(block.instructions[1].branches);
      return;
    }
    if (!trace_ && depth_ < kMaxDepth && isShort(block)) {
      emitCopies(branch.copies, nullptr);
      if (!branch.copies.empty())
        last_ = {};
      ++depth_;
      for (const Instruction& instruction : block.instructions) {
        begin(instruction.pc);
        if (instruction.op == Op::Br)
          emitBranch(instruction.branches[0]);
        else
          emitArithmetic(instruction);
      }
      --depth_;
      return;
    }
    emitCopies(branch.copies, &target);
  }

  // A few arithmetic operations, then a branch.
  static bool isShort(const bytecode::Block& block) {
    constexpr size_t kMaxOperations = 3;
    if (block.instructions.empty() || block.instructions.size() > kMaxOperations + 1 ||
        block.instructions.back().op != Op::Br)
      return false;
    for (size_t i = 0; i + 1 < block.instructions.size(); ++i)
      if (simpleHandlers()[static_cast<size_t>(block.instructions[i].op)].result == Bank::None)
        return false;
    return true;
  }

  // An operation whose operands are all registers.
  void emitArithmetic(const Instruction& instruction) {
    before_last_ = last_;
    putSimple(instruction);
    std::vector<uint16_t> registers;
    for (Register reg : instruction.registers)
      registers.push_back(encode(reg));
    putPacked(registers);
  }

  // [comparison, cond_br on it without copies]
  static bool isCompareAndBranch(const bytecode::Block& block) {
    if (block.instructions.size() != 2)
      return false;
    const Instruction& comparison = block.instructions[0];
    const Instruction& branch = block.instructions[1];
    return compareBranchHandler(comparison.op, true) && branch.op == Op::CondBr &&
           branch.registers[0].bits == comparison.registers.back().bits &&
           branch.branches[0].copies.empty() && branch.branches[1].copies.empty();
  }

  void emitComparison(const Instruction& comparison) { emitArithmetic(comparison); }

  // Turns the comparison just emitted into one with a branch; before it, an addition joins them.
  void emitFusedBranch(const std::vector<Branch>& branches) {
    bool true_is_next = branches[0].copies.empty() && isNext(branches[0]);
    const Branch& taken = true_is_next ? branches[1] : branches[0];
    const Branch& other = true_is_next ? branches[0] : branches[1];
    bool follows = before_last_.op != Op::Block && before_last_.cell + 2 == last_.cell;
    // Nothing came between the two.
    const bool compares_sum = follows && code_.cells[last_.cell + 1].reg[0] == before_last_.result;
    Handler* latch =
        follows ? addCompareBranchHandler(before_last_.op, last_.op, !true_is_next, compares_sum)
                : nullptr;
    if (latch) {
      // The addition's handler does all; the comparison's registers move up to it.
      code_.cells[before_last_.cell].handler = latch;
      code_.cells.erase(code_.cells.begin() + static_cast<ptrdiff_t>(last_.cell));
      while (code_.positions.back().cell > before_last_.cell)
        code_.positions.pop_back();
    } else {
      code_.cells[last_.cell].handler = compareBranchHandler(last_.op, !true_is_next, last_.form);
    }
    // Comparisons with a branch leave accumulators as they were; what they wrote is in none.
    held_ = latch ? before_last_.held : last_.held;
    if (latch)
      held_.put(before_last_.op == Op::AddI64 ? Bank::Wide : Bank::Word, before_last_.result);
    held_.overwrite(last_.result);
    putTarget(destinationOf(taken));
    last_ = {};
    Destination target{false, other.target};
    falls_through_ |= isNext(other);
    emitCopies(other.copies, isNext(other) ? nullptr : &target);
  }

  void emitConditional() {
    uint16_t condition = instruction_->registers[0].index();
    if (last_.op != Op::Block && last_.result == condition &&
        compareBranchHandler(last_.op, true) && !trace_) {
      emitFusedBranch(instruction_->branches);
      return;
    }
    const Branch& if_true = instruction_->branches[0];
    const Branch& if_false = instruction_->branches[1];
    // The branch that needs no code when its block is next falls through; else the false one.
    bool true_is_next = if_true.copies.empty() && isNext(if_true);
    traceInstruction();
    begin(instruction_->pc);
    put(true_is_next ? jumpIfNot : jumpIf);
    putRegisters({condition});
    putTarget(destinationOf(true_is_next ? if_false : if_true));
    last_ = {};
    emitBranch(true_is_next ? if_true : if_false);
  }

  void emitTable() {
    traceInstruction();
    begin(instruction_->pc);
    put(!trace_ && held_.find(Bank::Word, instruction_->registers[0].index()) == Source::Last
            ? jumpTableNumber
            : jumpTable);
    Cell& header = add();
    header.reg[0] = instruction_->registers[0].index();
    header.u32[1] = static_cast<uint32_t>(instruction_->branches.size() - 1);
    for (const Branch& branch : instruction_->branches)
      putTarget(destinationOf(branch));
  }

  std::vector<uint16_t> resultRegisters(const Groups& groups) {
    std::vector<uint16_t> registers;
    groups.forEach(
        [&](size_t index) { registers.push_back(instruction_->results[index].index()); });
    return registers;
  }

  Result<void> emitCall() {
    uint64_t callee = instruction_->immediates[0];
    if (callee & kImportBit)
      return emitImportCall(static_cast<uint32_t>(callee & ~kImportBit));
    const FunctionCode& code = *functions_[callee];
    Groups arguments(code.signature->arguments);
    Groups results(code.signature->results);
    size_t argument_cells = (instruction_->operands.size() + 1) / 2;
    if (3 + argument_cells > UINT16_MAX)
      return fail(StatusCode::ResourceExhausted, program_.describe(ordinal_),
                  ": a call with too many arguments");
    put(callInternal);
    add().function = &code;
    putRegisters({static_cast<uint16_t>(arguments.words.size()),
                  static_cast<uint16_t>(arguments.wide_words.size()),
                  static_cast<uint16_t>(arguments.refs.size()),
                  static_cast<uint16_t>(3 + argument_cells)});
    std::vector<uint16_t> pairs;
    arguments.forEach([&](size_t index) {
      pairs.push_back(encode(instruction_->operands[index]));
      pairs.push_back(code.arguments.registers[index]);
    });
    putPacked(pairs);
    putPacked(resultRegisters(results));
    return {};
  }

  Result<void> emitImportCall(uint32_t ordinal) {
    const Signature& signature = *program_.imports[ordinal].signature;
    auto call = std::make_unique<ImportCall>();
    call->ordinal = ordinal;
    size_t operand = 0;
    size_t slot = 0;
    auto pass = [&](ValueType type) {
      Register source = instruction_->operands[operand++];
      Transfer transfer{source.index(), static_cast<uint16_t>(slot++)};
      (type == ValueType::Ref ? call->refs
       : isWide(type)         ? call->wide_words
                              : call->words)
          .push_back(transfer);
      if (source.moves())
        call->moved.push_back(source.index());
    };
    for (size_t i = 0; i < signature.arguments.size(); ++i) {
      const Signature::Item& item = signature.arguments[i];
      if (!item.isSpan()) {
        pass(item.type);
        continue;
      }
      uint16_t count = instruction_->segments[i];
      call->counts.push_back({count, static_cast<uint16_t>(slot++)});
      for (uint16_t tuple = 0; tuple < count; ++tuple)
        for (ValueType type : item.tuple)
          pass(type);
    }
    if (slot > UINT16_MAX)
      return fail(StatusCode::ResourceExhausted, program_.describe(ordinal_),
                  ": a call with too many arguments");
    call->argument_slots = static_cast<uint32_t>(slot);
    call->result_slots = static_cast<uint32_t>(signature.results.size());
    for (size_t i = 0; i < signature.results.size(); ++i) {
      ValueType type = signature.results[i];
      Transfer transfer{static_cast<uint16_t>(i), instruction_->results[i].index()};
      (type == ValueType::Ref ? call->result_refs
       : isWide(type)         ? call->result_wide_words
                              : call->result_words)
          .push_back(transfer);
    }
    put(callImport);
    add().import_call = call.get();
    putPacked(resultRegisters(Groups(signature.results)));
    code_.import_calls.push_back(std::move(call));
    return {};
  }

  void emitReturn() {
    Groups groups(function_.signature->results);
    if (instruction_->operands.empty()) {
      put(callReturnNone);
      return;
    }
    put(callReturn);
    putRegisters({static_cast<uint16_t>(groups.words.size()),
                  static_cast<uint16_t>(groups.wide_words.size()),
                  static_cast<uint16_t>(groups.refs.size())});
    std::vector<uint16_t> registers;
    groups.forEach(
        [&](size_t index) { registers.push_back(encode(instruction_->operands[index])); });
    putPacked(registers);
  }

  void emitSwitch(Handler* handler, bool references) {
    put(handler);
    const auto& registers = instruction_->registers;
    putRegisters({encode(registers[0]), encode(registers[1]), encode(registers[2]),
                  static_cast<uint16_t>(instruction_->operands.size())});
    if (references)
      putPointer(&program_.types[instruction_->immediates[0]]);
    emitList(instruction_->operands);
  }

  void emitList(const std::vector<Register>& list) {
    std::vector<uint16_t> registers;
    for (Register reg : list)
      registers.push_back(encode(reg));
    putPacked(registers);
  }

  // Empties registers; `only_moved`: those whose operand moves.
  void emitDiscard(bool only_moved) {
    std::vector<uint16_t> registers;
    for (Register reg : instruction_->operands)
      if (!only_moved || reg.moves())
        registers.push_back(reg.index());
    if (registers.empty())
      return;
    put(discardRefs);
    putNumber(static_cast<int64_t>(registers.size()));
    putPacked(registers);
  }

  // Operations whose operands are single registers and immediates.
  void emitSimple() {
    putSimple(*instruction_);
    std::vector<uint16_t> registers;
    for (Register reg : instruction_->registers)
      registers.push_back(encode(reg));
    putPacked(registers);
    size_t next = 0;
    for (char operand : instruction_->info->operands) {
      switch (operand) {
      case '4':
      case '8':
      case 'e':
      case 'd':
      case 'g':
      case 'G':
      case 'n':
        putNumber(static_cast<int64_t>(instruction_->immediates[next++]));
        break;
      case 'o':
        putPointer(program_.rodata[instruction_->immediates[next++]].get());
        break;
      case 't':
        putPointer(&program_.types[instruction_->immediates[next++]]);
        break;
      default:
        break;
      }
    }
  }

  void traceInstruction() {
    if (!trace_)
      return;
    begin(instruction_->pc);
    std::string_view name = function_.name;
    code_.texts.push_back(std::make_unique<std::string>(
        concat("[", program_.name, ".", name.empty() ? concat("@", ordinal_) : std::string(name),
               "+", instruction_->pc, "] ", bytecode::disassemble(program_, *instruction_))));
    put(traceOperation);
    putPointer(code_.texts.back().get());
  }

  Result<void> emitInstruction() {
    if (instruction_->op == Op::CondBr) {
      emitConditional();
      return {};
    }
    if (instruction_->op == Op::BrTable) {
      emitTable();
      return {};
    }
    traceInstruction();
    begin(instruction_->pc);
    Emitted previous = std::exchange(last_, {});
    // What goes through putSimple says itself what it leaves.
    if (!simpleHandlers()[static_cast<size_t>(instruction_->op)].plain)
      overwriteResults(held_, *instruction_);
    switch (instruction_->op) {
    case Op::Br:
    case Op::Break:
    case Op::CondBreak:
      last_ = previous;
      emitBranch(instruction_->branches[0]);
      return {};
    case Op::Yield: {
      emitCopies(instruction_->branches[0].copies, nullptr);
      held_ = {};
      put(yieldTo);
      putTarget({false, instruction_->branches[0].target});
      return {};
    }
    case Op::Call:
    case Op::CallVariadic:
      held_ = {};
      return emitCall();
    case Op::CallYieldable:
    case Op::CallVariadicYieldable:
      held_ = {};
      BESSEMER_RETURN_IF_ERROR(emitCall());
      emitBranch(instruction_->branches[0]);
      return {};
    case Op::Return:
      emitReturn();
      return {};
    case Op::Fail:
      put(failWith);
      putRegisters({instruction_->registers[0].index()});
      putPointer(instruction_->text.data());
      putNumber(static_cast<int64_t>(instruction_->text.size()));
      falls_through_ = true;
      return {};
    case Op::ImportResolved:
      put(importResolved);
      putRegisters({instruction_->registers[0].index()});
      putNumber(static_cast<int64_t>(instruction_->immediates[0] & ~kImportBit));
      return {};
    case Op::Trace:
    case Op::Print:
      emitDiscard(true);
      return {};
    case Op::DiscardRefs:
      emitDiscard(false);
      return {};
    case Op::SwitchI32:
    case Op::SwitchF32:
      emitSwitch(switchWord, false);
      return {};
    case Op::SwitchI64:
    case Op::SwitchF64:
      emitSwitch(switchWide, false);
      return {};
    case Op::SwitchRef:
      emitSwitch(switchRef, true);
      return {};
    default:
      break;
    }
    before_last_ = previous;
    emitSimple();
    return {};
  }

  void emitHostReturn() {
    Groups groups(code_.signature->results);
    std::vector<uint16_t> registers;
    groups.forEach([&](size_t index) { registers.push_back(code_.results.registers[index]); });
    std::vector<Cell> body;
    body.swap(code_.cells);
    putPacked(registers);
    put(hostReturn);
    code_.host_return.swap(code_.cells);
    code_.cells.swap(body);
  }

  void emitEdges() {
    for (size_t i = 0; i < edges_.size(); ++i) {
      edges_[i].cell = size();
      begin(edges_[i].pc);
      block_ = edges_[i].from;
      held_ = edges_[i].held;
      Destination target{false, edges_[i].branch.target};
      emitCopies(edges_[i].branch.copies, &target);
    }
  }

  // The cells have their final addresses: targets become pointers.
  void link() {
    code_.cells.shrink_to_fit();
    for (const Fixup& fixup : fixups_) {
      size_t cell = 0;
      if (fixup.destination.edge) {
        cell = edges_[fixup.destination.index].cell;
      } else {
        const BlockEntry& entry = entryOf(fixup.destination.index);
        cell = fixup.held.covers(entry.expected) ? entry.cell : entry.loading_cell;
      }
      code_.cells[fixup.cell].target = code_.cells.data() + cell;
    }
  }

  const Program& program_;
  const FunctionDef& function_;
  size_t ordinal_;
  const std::vector<std::unique_ptr<FunctionCode>>& functions_;
  FunctionCode& code_;
  bool trace_;
  const Instruction* instruction_ = nullptr;
  std::vector<bytecode::Block> blocks_;
  size_t block_ = 0;           // the one being emitted
  uint32_t next_pc_ = 0;       // of the block after it
  bool falls_through_ = false; // the code before ends without a jump
  static constexpr int kMaxDepth = 2;
  int depth_ = 0;                   // of blocks emitted where others branch to them
  Accumulators held_;               // what is in the accumulators where code is emitted
  std::vector<BlockEntry> entries_; // by block
  std::vector<Edge> edges_;
  std::vector<Fixup> fixups_;
  // The last simple operations of this block, if nothing came after them.
  struct Emitted {
    Op op = Op::Block; // Block: none
    size_t cell = 0;
    uint16_t result = 0;
    size_t form = 0;
    Accumulators held; // before it
  };
  Emitted last_;
  Emitted before_last_;
};

} // namespace

Result<std::vector<std::unique_ptr<FunctionCode>>> translate(const Program& program, bool trace) {
  std::vector<std::unique_ptr<FunctionCode>> functions;
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const FunctionDef& function = program.functions[i];
    auto code =
        std::make_unique<FunctionCode>(*function.signature, ArgumentLayout(*function.signature),
                                       resultLayout(*function.signature));
    code->ordinal = static_cast<uint32_t>(i);
    code->word_count = (function.word_count + 1) & ~1u;
    code->ref_count = function.ref_count;
    functions.push_back(std::move(code));
  }
  for (size_t i = 0; i < functions.size(); ++i)
    BESSEMER_RETURN_IF_ERROR(FunctionTranslator(program, i, functions, trace).run());
  return functions;
}

} // namespace bessemer::vm::interpreter
