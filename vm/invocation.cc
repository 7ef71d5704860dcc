#include "vm/invocation.h"

#include "vm/linked_context.h"

namespace bessemer::vm {

using interpreter::Execution;
using interpreter::Frame;
using interpreter::FunctionCode;

namespace {

// Where the host waits when a call defers without saying for what: it goes on at once.
void waitFor(WaitSource* source) {
  if (source)
    source->wait(WaitSource::Clock::time_point::max());
}

std::unexpected<Error> wrongArgument(const Function& function, size_t index, ValueType expected,
                                     const Value& found) {
  return fail(StatusCode::InvalidArgument, "argument ", index, " of ", function.name(), " must be ",
              valueTypeName(expected), ", not ", valueTypeName(found.type()));
}

Result<void> checkArguments(const Function& function, std::span<const Value> arguments) {
  const Signature& signature = function.signature();
  if (arguments.size() != signature.arguments.size()) [[unlikely]]
    return fail(StatusCode::InvalidArgument, function.name(), " takes ", signature.arguments.size(),
                " arguments, not ", arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].type() != signature.arguments[i].type) [[unlikely]]
      return wrongArgument(function, i, signature.arguments[i].type, arguments[i]);
  return {};
}

Value valueAt(ValueType type, const uint32_t* words, RawRef* refs, uint16_t index) {
  switch (type) {
  case ValueType::I32:
    return interpreter::get<int32_t>(words, index);
  case ValueType::I64:
    return interpreter::get<int64_t>(words, index);
  case ValueType::F32:
    return interpreter::get<float>(words, index);
  case ValueType::F64:
    return interpreter::get<double>(words, index);
  default:
    return Ref::adopt(std::exchange(refs[index], {}));
  }
}

// A call's frames: one for the host, which gets the results, and one for the function.
Result<void> pushCall(Execution& execution, const CallTarget& target,
                      std::span<const Value> arguments) {
  const FunctionCode& code = *target.code;
  Frame* host =
      execution.push(nullptr, nullptr, (code.results.word_count + 1) & ~1u, code.results.ref_count);
  Frame* frame =
      host ? execution.push(&code, target.state, code.word_count, code.ref_count) : nullptr;
  if (!frame)
    return fail(StatusCode::ResourceExhausted, "the call stack is full");
  frame->return_pc = code.host_return.data();
  frame->pc = code.cells.data();
  for (size_t i = 0; i < arguments.size(); ++i) {
    uint16_t index = code.arguments.registers[i];
    const Value& value = arguments[i];
    switch (value.type()) {
    case ValueType::I64:
    case ValueType::F64:
      interpreter::set<int64_t>(frame->words, index, value.i64());
      break;
    case ValueType::Ref:
      frame->refs[index] = value.rawRef();
      interpreter::retain(frame->refs[index]);
      break;
    default:
      interpreter::set<int32_t>(frame->words, index, value.i32());
      break;
    }
  }
  return {};
}

// After the run: the results leave the host's frame, which goes.
template <class Store>
void popResults(Execution& execution, const CallTarget& target, Store store) {
  const FunctionCode& code = *target.code;
  Frame* host = execution.frame;
  const std::vector<ValueType>& types = code.signature->results;
  for (size_t i = 0; i < types.size(); ++i)
    store(i, valueAt(types[i], host->words, host->refs, code.results.registers[i]));
  execution.pop();
}

Slot slotOf(const Value& value) {
  Slot slot;
  switch (value.type()) {
  case ValueType::I64:
  case ValueType::F64:
    slot.i64 = value.i64();
    break;
  case ValueType::Ref:
    slot.ref = value.rawRef();
    break;
  default:
    slot.i32 = value.i32();
    break;
  }
  return slot;
}

Value valueOf(ValueType type, const Slot& slot) {
  switch (type) {
  case ValueType::I32:
    return slot.i32;
  case ValueType::I64:
    return slot.i64;
  case ValueType::F32:
    return slot.f32;
  case ValueType::F64:
    return slot.f64;
  default:
    return Ref::adopt(slot.ref);
  }
}

} // namespace

struct Invocation::State {
  LinkedContext* context = nullptr;
  const CallTarget* target = nullptr;
  std::unique_ptr<Execution> execution;
  // A native function called from outside has no frames.
  std::vector<Value> arguments;
  std::vector<Slot> argument_slots;
  std::vector<Slot> result_slots;
  bool deferred = false;
  bool done = false;

  ~State() {
    for (size_t i = 0; i < result_slots.size(); ++i)
      if (target->signature->results[i] == ValueType::Ref)
        interpreter::release(result_slots[i].ref);
    if (execution) {
      execution->unwind();
      context->release(std::move(execution));
    }
  }

  Outcome resumeNative() {
    NativeCall& native = execution->native;
    native.state = target->native_state;
    native.arguments = argument_slots.data();
    native.results = result_slots.data();
    native.resumed = deferred;
    if (!deferred)
      native.scratch = 0;
    native.wait_source.reset();
    Outcome outcome = target->native(native);
    deferred = outcome == Outcome::Deferred;
    if (outcome == Outcome::Failed)
      execution->error = native.takeError();
    return outcome;
  }
};

Invocation::Invocation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Invocation::Invocation(Invocation&&) noexcept = default;
Invocation& Invocation::operator=(Invocation&&) noexcept = default;
Invocation::~Invocation() = default;

Result<Invocation> Invocation::begin(const Function& function, std::span<const Value> arguments) {
  BESSEMER_RETURN_IF_ERROR(checkArguments(function, arguments));
  auto state = std::make_unique<State>();
  state->context = static_cast<LinkedContext*>(function.context_);
  state->target = function.target_;
  state->execution = state->context->acquire();
  if (!state->execution)
    return fail(StatusCode::ResourceExhausted, "no memory for a call stack");
  state->execution->native.may_block = false;
  if (state->target->native) {
    state->arguments.assign(arguments.begin(), arguments.end());
    for (const Value& value : state->arguments)
      state->argument_slots.push_back(slotOf(value));
    state->result_slots.resize(function.signature().results.size());
  } else {
    BESSEMER_RETURN_IF_ERROR(pushCall(*state->execution, *state->target, arguments));
  }
  return Invocation(std::move(state));
}

Result<Invocation::Progress> Invocation::resume() {
  if (state_->done)
    return fail(StatusCode::FailedPrecondition, "the call is already done");
  Outcome outcome = state_->target->native ? state_->resumeNative() : state_->execution->run();
  if (outcome == Outcome::Deferred)
    return Progress::Deferred;
  state_->done = true;
  if (outcome == Outcome::Failed)
    return std::unexpected(std::move(*std::exchange(state_->execution->error, nullptr)));
  return Progress::Done;
}

WaitSource* Invocation::waitSource() const { return state_->execution->native.wait_source.get(); }

Result<void> Invocation::takeResults(std::vector<Value>& results) {
  results.clear();
  if (!state_->done)
    return fail(StatusCode::FailedPrecondition, "the call is not done");
  if (!state_->target->native) {
    if (!state_->execution->frame)
      return fail(StatusCode::FailedPrecondition, "the results were taken or the call failed");
    popResults(*state_->execution, *state_->target,
               [&](size_t, Value value) { results.push_back(std::move(value)); });
    return {};
  }
  const std::vector<ValueType>& types = state_->target->signature->results;
  for (size_t i = 0; i < state_->result_slots.size(); ++i)
    results.push_back(valueOf(types[i], std::exchange(state_->result_slots[i], Slot())));
  state_->result_slots.clear();
  return {};
}

namespace {

// Runs a bytecode function to its end on this thread.
template <class Store>
Result<void> callBytecode(LinkedContext& context, const CallTarget& target,
                          std::span<const Value> arguments, Store store) {
  std::unique_ptr<Execution> execution = context.acquire();
  if (!execution) [[unlikely]]
    return fail(StatusCode::ResourceExhausted, "no memory for a call stack");
  execution->native.may_block = true;
  Result<void> result = pushCall(*execution, target, arguments);
  if (result) [[likely]] {
    Outcome outcome;
    while ((outcome = execution->run()) == Outcome::Deferred)
      waitFor(execution->native.wait_source.get());
    if (outcome == Outcome::Done) [[likely]]
      popResults(*execution, target, store);
    else
      result = std::unexpected(std::move(*std::exchange(execution->error, nullptr)));
  }
  if (!result) [[unlikely]]
    execution->unwind();
  context.release(std::move(execution));
  return result;
}

} // namespace

Result<void> call(const Function& function, std::span<const Value> arguments,
                  std::span<Value> results) {
  size_t count = function.signature().results.size();
  if (results.size() != count)
    return fail(StatusCode::InvalidArgument, function.name(), " has ", count, " results, not ",
                results.size());
  BESSEMER_RETURN_IF_ERROR(checkArguments(function, arguments));
  auto store = [&](size_t i, Value value) { results[i] = std::move(value); };
  if (!function.target_->native)
    return callBytecode(static_cast<LinkedContext&>(*function.context_), *function.target_,
                        arguments, store);
  BESSEMER_ASSIGN_OR_RETURN(Invocation invocation, Invocation::begin(function, arguments));
  for (;;) {
    BESSEMER_ASSIGN_OR_RETURN(Invocation::Progress progress, invocation.resume());
    if (progress == Invocation::Progress::Done)
      break;
    waitFor(invocation.waitSource());
  }
  std::vector<Value> values;
  BESSEMER_RETURN_IF_ERROR(invocation.takeResults(values));
  for (size_t i = 0; i < count; ++i)
    results[i] = std::move(values[i]);
  return {};
}

Result<void> call(const Function& function, std::span<const Value> arguments,
                  std::vector<Value>& results) {
  results.clear();
  results.resize(function.signature().results.size());
  auto result = call(function, arguments, std::span<Value>(results));
  if (!result)
    results.clear();
  return result;
}

} // namespace bessemer::vm
