// A call in flight: its stack of frames, and what it came to.
#pragma once

#include <memory>

#include "vm/context.h"
#include "vm/interpreter/code.h"

namespace bessemer::vm::interpreter {

// One activation, on the execution's stack: this, the words, the references.
struct Frame {
  Frame* caller = nullptr;
  const FunctionCode* function = nullptr; // null for the frame that stands for the host
  ModuleState* state = nullptr;
  const Cell* pc = nullptr;        // while another frame is above or the call rests: where it is
  const Cell* return_pc = nullptr; // in the caller: registers of the results, then what is next
  uint32_t* words = nullptr;
  RawRef* refs = nullptr;
};

// Keeps its memory from call to call. Frames never move.
struct Execution {
  static constexpr size_t kStackBytes = size_t{8} << 20;

  static std::unique_ptr<Execution> create(); // null without memory
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution();

  // A frame with zeroed registers on top, or null when the stack is full.
  Frame* push(const FunctionCode* function, ModuleState* state, uint32_t words, uint32_t refs) {
    // Words are an even number: the references stay aligned.
    size_t bytes = sizeof(Frame) + words * sizeof(uint32_t) + refs * sizeof(RawRef);
    if (static_cast<size_t>(limit - top) < bytes) [[unlikely]]
      return nullptr;
    auto* pushed = reinterpret_cast<Frame*>(top);
    pushed->caller = frame;
    pushed->function = function;
    pushed->state = state;
    pushed->words = reinterpret_cast<uint32_t*>(top + sizeof(Frame));
    pushed->refs = reinterpret_cast<RawRef*>(pushed->words + words);
    std::memset(pushed->words, 0, bytes - sizeof(Frame));
    frame = pushed;
    top += bytes;
    return pushed;
  }
  // The top frame goes; its references are gone or released already.
  void pop() {
    top = reinterpret_cast<std::byte*>(frame);
    frame = frame->caller;
  }
  // Drops every frame with what it holds.
  void unwind();

  // Ends the running operation with an error. Cold.
  template <class... Parts>
  Outcome fail(const Cell* pc, StatusCode code, const Parts&... parts) {
    return fail(pc, Error(code, concat(parts...)));
  }
  Outcome fail(const Cell* pc, Error failure);

  // Runs the top frame from its pc until all frames but the host's are done, or one rests.
  Outcome run();

  std::byte* memory = nullptr;
  std::byte* top = nullptr;
  std::byte* limit = nullptr;
  Frame* frame = nullptr;
  NativeCall native;
  // The operation that runs next is a call of a native function that had deferred.
  bool resuming = false;
  Tracer* tracer = nullptr;
  std::unique_ptr<Error> error;

private:
  Execution() = default;
};

} // namespace bessemer::vm::interpreter
