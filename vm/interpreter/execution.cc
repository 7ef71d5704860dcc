#include "vm/interpreter/execution.h"

#include <algorithm>
#include <sys/mman.h>

#include "vm/bytecode_module.h"

namespace bessemer::vm::interpreter {

std::unique_ptr<Execution> Execution::create() {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  std::unique_ptr<Execution> execution(new Execution());
  execution->memory = execution->top = static_cast<std::byte*>(memory);
  execution->limit = execution->memory + kStackBytes;
  return execution;
}

Execution::~Execution() {
  unwind();
  munmap(memory, kStackBytes);
}

void Execution::unwind() {
  while (frame) {
    // The host's frame has references only after the call is done; its count is in its code.
    uint32_t count = static_cast<uint32_t>(reinterpret_cast<RawRef*>(top) - frame->refs);
    for (uint32_t i = 0; i < count; ++i)
      release(frame->refs[i]);
    pop();
  }
  native.wait_source.reset();
  native.scratch = 0;
  resuming = false;
}

Outcome Execution::fail(const Cell* pc, Error failure) {
  frame->pc = pc;
  error = std::make_unique<Error>(std::move(failure));
  for (const Frame* at = frame; at && at->function; at = at->caller) {
    const BytecodeModule& module = *at->state->module;
    uint32_t offset = at->function->offsetOf(at->pc);
    std::string_view name = module.functionName(at->function->ordinal);
    error->appendFrame({std::string(module.name()),
                        name.empty() ? concat("@", at->function->ordinal) : std::string(name),
                        offset, module.sourceLocation(at->function->ordinal, offset)});
  }
  return Outcome::Failed;
}

Outcome Execution::run() {
  Frame* at = frame;
  return at->pc->handler(at->pc, at->words, at->refs, this, at->state, 0, 0, 0, 0, 0, 0);
}

uint32_t FunctionCode::offsetOf(const Cell* pc) const {
  auto cell = static_cast<uint32_t>(pc - cells.data());
  auto after = std::ranges::upper_bound(positions, cell, {}, &Position::cell);
  return after == positions.begin() ? 0 : std::prev(after)->pc;
}

} // namespace bessemer::vm::interpreter
