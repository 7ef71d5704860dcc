// Branches, calls and what the translator places itself. Layouts are in handlers.h.
#include "vm/bytecode_module.h"
#include "vm/interpreter/handlers.h"

namespace bessemer::vm::interpreter {

namespace {

const uint16_t* registersAt(const Cell* cells) { return cells->reg; }

// One copy of each width, in the frame of the branch.
template <bool Wide>
void copyWord(uint32_t* words, const uint16_t* pair) {
  if constexpr (Wide)
    set<uint64_t>(words, pair[1], get<uint64_t>(words, pair[0]));
  else
    words[pair[1]] = words[pair[0]];
}

template <size_t Count, bool Wide>
BESSEMER_VM_HANDLER(copyPlain) {
  const uint16_t* pairs = registersAt(pc + 1);
  for (size_t i = 0; i < Count; ++i)
    copyWord<Wide>(words, pairs + 2 * i);
  BESSEMER_VM_NEXT(1 + (Count + 1) / 2);
}

template <size_t Count, bool Wide>
BESSEMER_VM_HANDLER(copyAndJump) {
  const uint16_t* pairs = registersAt(pc + 1);
  for (size_t i = 0; i < Count; ++i)
    copyWord<Wide>(words, pairs + 2 * i);
  pc = pc[1 + (Count + 1) / 2].target;
  BESSEMER_VM_DISPATCH();
}

template <bool Wide>
Handler* copyHandlerOf(size_t count, bool jumps) {
  switch (count) {
  case 1:
    return jumps ? copyAndJump<1, Wide> : copyPlain<1, Wide>;
  case 2:
    return jumps ? copyAndJump<2, Wide> : copyPlain<2, Wide>;
  case 3:
    return jumps ? copyAndJump<3, Wide> : copyPlain<3, Wide>;
  case 4:
    return jumps ? copyAndJump<4, Wide> : copyPlain<4, Wide>;
  default:
    return nullptr;
  }
}

[[gnu::noinline, gnu::cold]] Outcome failStack(const Cell* pc, Execution* execution) {
  return execution->fail(pc, StatusCode::ResourceExhausted, "the call stack is full (",
                         Execution::kStackBytes, " bytes)");
}

[[gnu::noinline, gnu::cold]] Outcome failUnresolved(const Cell* pc, Execution* execution,
                                                    ModuleState* state, uint32_t ordinal) {
  return execution->fail(pc, StatusCode::NotFound, "the optional import ",
                         state->module->imports()[ordinal].full_name, " is not there");
}

// Calls a native function. The references that move stay in their registers until it is done.
[[gnu::noinline]] Outcome callNative(const Cell* pc, uint32_t* words, RawRef* refs,
                                     Execution* execution, const CallTarget& target,
                                     const ImportCall& call) {
  size_t slot_count = call.argument_slots + call.result_slots;
  if (static_cast<size_t>(execution->limit - execution->top) < slot_count * sizeof(Slot))
      [[unlikely]]
    return failStack(pc, execution);
  auto* slots = reinterpret_cast<Slot*>(execution->top);
  for (Transfer transfer : call.words)
    slots[transfer.target].i32 = get<int32_t>(words, transfer.source);
  for (Transfer transfer : call.wide_words)
    slots[transfer.target].i64 = get<int64_t>(words, transfer.source);
  for (Transfer transfer : call.refs)
    slots[transfer.target].ref = refs[transfer.source];
  for (Transfer transfer : call.counts)
    slots[transfer.target].i32 = transfer.source;
  Slot* results = slots + call.argument_slots;
  std::memset(static_cast<void*>(results), 0, call.result_slots * sizeof(Slot));

  NativeCall& native = execution->native;
  native.state = target.native_state;
  native.arguments = slots;
  native.results = results;
  native.resumed = std::exchange(execution->resuming, false);
  if (!native.resumed)
    native.scratch = 0;
  native.wait_source.reset();
  Outcome outcome = target.native(native);
  if (outcome == Outcome::Deferred) {
    execution->frame->pc = pc;
    execution->resuming = true;
    return outcome;
  }
  if (outcome == Outcome::Failed) [[unlikely]] {
    std::string_view name = execution->frame->state->module->imports()[call.ordinal].full_name;
    return execution->fail(pc, std::move(*native.takeError()).prefix(name));
  }
  for (uint16_t moved : call.moved)
    release(refs[moved]);
  for (Transfer transfer : call.result_words)
    set<int32_t>(words, transfer.target, results[transfer.source].i32);
  for (Transfer transfer : call.result_wide_words)
    set<int64_t>(words, transfer.target, results[transfer.source].i64);
  for (Transfer transfer : call.result_refs)
    assign(refs[transfer.target], results[transfer.source].ref);
  return outcome;
}

// A frame for an imported bytecode function, with its arguments; null when the stack is full.
[[gnu::noinline]] Frame* pushImported(const Cell* pc, uint32_t* words, RawRef* refs,
                                      Execution* execution, const CallTarget& target,
                                      const ImportCall& call) {
  const FunctionCode* code = target.code;
  execution->frame->pc = pc;
  Frame* frame = execution->push(code, target.state, code->word_count, code->ref_count);
  if (!frame)
    return nullptr;
  // Slots and the callee's registers count the same arguments.
  for (Transfer transfer : call.words)
    set<uint32_t>(frame->words, code->arguments.registers[transfer.target],
                  get<uint32_t>(words, transfer.source));
  for (Transfer transfer : call.wide_words)
    set<uint64_t>(frame->words, code->arguments.registers[transfer.target],
                  get<uint64_t>(words, transfer.source));
  for (Transfer transfer : call.refs) {
    retain(refs[transfer.source]);
    frame->refs[code->arguments.registers[transfer.target]] = refs[transfer.source];
  }
  for (uint16_t moved : call.moved)
    release(refs[moved]);
  return frame;
}

} // namespace

Handler* copyHandler(size_t count, bool wide, bool jumps) {
  return wide ? copyHandlerOf<true>(count, jumps) : copyHandlerOf<false>(count, jumps);
}

BESSEMER_VM_HANDLER(jump) {
  pc = pc[1].target;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(jumpIf) {
  pc = words[pc[1].reg[0]] ? pc[2].target : pc + 3;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(jumpIfNot) {
  pc = words[pc[1].reg[0]] ? pc + 3 : pc[2].target;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(jumpTable) {
  // A negative index is a large one: the default.
  uint32_t index = words[pc[1].reg[0]];
  pc = index < pc[1].u32[1] ? pc[3 + index].target : pc[2].target;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(jumpTableNumber) {
  auto index = static_cast<uint32_t>(number);
  pc = index < pc[1].u32[1] ? pc[3 + index].target : pc[2].target;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(copyWords) {
  uint32_t count = pc[1].u32[0];
  const uint16_t* pairs = registersAt(pc + 2);
  for (uint32_t i = 0; i < count; ++i, pairs += 2) {
    if (pairs[1] & kWideBit)
      set<uint64_t>(words, pairs[1] & ~kWideBit, get<uint64_t>(words, pairs[0]));
    else
      words[pairs[1]] = words[pairs[0]];
  }
  BESSEMER_VM_NEXT(2 + (count + 1) / 2);
}

BESSEMER_VM_HANDLER(copyRefs) {
  uint32_t count = pc[1].u32[0];
  const uint16_t* pairs = registersAt(pc + 2);
  for (uint32_t i = 0; i < count; ++i, pairs += 2) {
    RawRef value = take(refs, pairs[0]);
    assign(refs[pairs[1]], value);
  }
  BESSEMER_VM_NEXT(2 + (count + 1) / 2);
}

BESSEMER_VM_HANDLER(callInternal) {
  const FunctionCode* code = pc[1].function;
  execution->frame->pc = pc;
  Frame* frame = execution->push(code, state, code->word_count, code->ref_count);
  if (!frame) [[unlikely]]
    return failStack(pc, execution);
  frame->return_pc = pc + pc[2].reg[3];
  const uint16_t* pairs = registersAt(pc + 3);
  for (uint32_t count = pc[2].reg[0]; count; --count, pairs += 2)
    frame->words[pairs[1]] = words[pairs[0]];
  for (uint32_t count = pc[2].reg[1]; count; --count, pairs += 2)
    set<uint64_t>(frame->words, pairs[1], get<uint64_t>(words, pairs[0]));
  for (uint32_t count = pc[2].reg[2]; count; --count, pairs += 2)
    frame->refs[pairs[1]] = take(refs, pairs[0]);
  pc = code->cells.data();
  words = frame->words;
  refs = frame->refs;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(callImport) {
  const ImportCall& call = *pc[1].import_call;
  const CallTarget& target = state->imports[call.ordinal];
  if (target.native) [[likely]] {
    Outcome outcome = callNative(pc, words, refs, execution, target, call);
    if (outcome != Outcome::Done) [[unlikely]]
      return outcome;
    // Nobody looks for accumulators after a call: nothing is saved around it.
    number = older_number = 0;
    single_number = older_single = 0;
    double_number = older_double = 0;
    BESSEMER_VM_NEXT(2 + registerCells(call.result_slots));
  }
  if (!target.code) [[unlikely]]
    return failUnresolved(pc, execution, state, call.ordinal);
  Frame* frame = pushImported(pc, words, refs, execution, target, call);
  if (!frame) [[unlikely]]
    return failStack(pc, execution);
  frame->return_pc = pc + 2;
  pc = target.code->cells.data();
  words = frame->words;
  refs = frame->refs;
  state = target.state;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(callReturn) {
  Frame* frame = execution->frame;
  Frame* caller = frame->caller;
  const Cell* call = frame->return_pc;
  const uint16_t* sources = registersAt(pc + 2);
  const uint16_t* targets = registersAt(call);
  uint32_t count = 0;
  for (uint32_t left = pc[1].reg[0]; left; --left, ++count)
    caller->words[targets[count]] = words[sources[count]];
  for (uint32_t left = pc[1].reg[1]; left; --left, ++count)
    set<uint64_t>(caller->words, targets[count], get<uint64_t>(words, sources[count]));
  for (uint32_t left = pc[1].reg[2]; left; --left, ++count)
    assign(caller->refs[targets[count]], take(refs, sources[count]));
  for (uint32_t i = 0; i < frame->function->ref_count; ++i)
    release(refs[i]);
  execution->pop();
  pc = call + registerCells(count);
  words = caller->words;
  refs = caller->refs;
  state = caller->state;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(callReturnNone) {
  Frame* frame = execution->frame;
  Frame* caller = frame->caller;
  for (uint32_t i = 0; i < frame->function->ref_count; ++i)
    release(refs[i]);
  pc = frame->return_pc;
  execution->pop();
  words = caller->words;
  refs = caller->refs;
  state = caller->state;
  BESSEMER_VM_DISPATCH();
}

BESSEMER_VM_HANDLER(hostReturn) { return Outcome::Done; }

BESSEMER_VM_HANDLER(yieldTo) {
  execution->frame->pc = pc[1].target;
  return Outcome::Deferred;
}

namespace {
[[gnu::noinline, gnu::cold]] Outcome failByProgram(const Cell* pc, Execution* execution,
                                                   uint32_t code) {
  constexpr uint32_t kLastCode = 18;
  auto status = code <= kLastCode ? static_cast<StatusCode>(code) : StatusCode::Unknown;
  return execution->fail(pc, Error(status, std::string(static_cast<const char*>(pc[2].pointer),
                                                       static_cast<size_t>(pc[3].i64))));
}
} // namespace

BESSEMER_VM_HANDLER(failWith) {
  if (uint32_t code = words[pc[1].reg[0]])
    return failByProgram(pc, execution, code);
  BESSEMER_VM_NEXT(4);
}

BESSEMER_VM_HANDLER(failAlways) {
  return execution->fail(pc, StatusCode::Internal, "the program ran past the end of a function");
}

BESSEMER_VM_HANDLER(discardRefs) {
  uint32_t count = pc[1].u32[0];
  const uint16_t* registers = registersAt(pc + 2);
  for (uint32_t i = 0; i < count; ++i)
    release(refs[registers[i]]);
  BESSEMER_VM_NEXT(2 + registerCells(count));
}

BESSEMER_VM_HANDLER(switchWord) {
  uint32_t index = words[pc[1].reg[0]];
  uint32_t count = pc[1].reg[3];
  uint16_t chosen = index < count ? registersAt(pc + 2)[index] : pc[1].reg[1];
  words[pc[1].reg[2]] = words[chosen];
  BESSEMER_VM_NEXT(2 + registerCells(count));
}

BESSEMER_VM_HANDLER(switchWide) {
  uint32_t index = words[pc[1].reg[0]];
  uint32_t count = pc[1].reg[3];
  uint16_t chosen = index < count ? registersAt(pc + 2)[index] : pc[1].reg[1];
  set<uint64_t>(words, pc[1].reg[2], get<uint64_t>(words, chosen));
  BESSEMER_VM_NEXT(2 + registerCells(count));
}

namespace {
[[gnu::noinline, gnu::cold]] Outcome failSwitchType(const Cell* pc, Execution* execution,
                                                    const bytecode::Type& type, RawRef found) {
  return execution->fail(pc, StatusCode::InvalidArgument, "expected a ", type.name.substr(1),
                         ", got a ", found.type->name);
}
} // namespace

// As select.ref: a moved operand that is not chosen is released.
BESSEMER_VM_HANDLER(switchRef) {
  uint32_t index = words[pc[1].reg[0]];
  uint32_t count = pc[1].reg[3];
  const uint16_t* registers = registersAt(pc + 3);
  uint16_t chosen = index < count ? registers[index] : pc[1].reg[1];
  const auto& type = *static_cast<const bytecode::Type*>(pc[2].pointer);
  RawRef found = refs[chosen & kRefIndexMask];
  if (found.object && type.ref && found.type != type.ref) [[unlikely]]
    return failSwitchType(pc, execution, type, found);
  RawRef value = take(refs, chosen);
  for (uint32_t i = 0; i < count; ++i)
    if (registers[i] & kMoveBit)
      release(refs[registers[i] & kRefIndexMask]);
  if (pc[1].reg[1] & kMoveBit)
    release(refs[pc[1].reg[1] & kRefIndexMask]);
  assign(refs[pc[1].reg[2] & kRefIndexMask], value);
  BESSEMER_VM_NEXT(3 + registerCells(count));
}

BESSEMER_VM_HANDLER(importResolved) {
  words[pc[1].reg[0]] = state->imports[pc[2].i64].resolved();
  BESSEMER_VM_NEXT(3);
}

BESSEMER_VM_HANDLER(traceOperation) {
  if (execution->tracer)
    execution->tracer->operation(*static_cast<const std::string*>(pc[1].pointer));
  BESSEMER_VM_NEXT(2);
}

const HandlerTable& simpleHandlers() {
  static const HandlerTable table = [] {
    HandlerTable made{};
    addIntegerHandlers(made);
    addFloatHandlers(made);
    addReferenceHandlers(made);
    addListHandlers(made);
    addBufferHandlers(made);
    return made;
  }();
  return table;
}

} // namespace bessemer::vm::interpreter
