// A translated function, and what it runs against.
#pragma once

#include <memory>
#include <vector>

#include "vm/bytecode/program.h"
#include "vm/call_target.h"
#include "vm/interpreter/cell.h"

namespace bessemer::vm::interpreter {

// How a call hands numbers and references over: (source, target) pairs by width.
struct Transfer {
  uint16_t source;
  uint16_t target;
};

// A call to another module: from registers to argument slots and from result slots to registers.
struct ImportCall {
  uint32_t ordinal = 0;
  uint32_t argument_slots = 0;
  uint32_t result_slots = 0;
  std::vector<Transfer> words; // register → slot
  std::vector<Transfer> wide_words;
  std::vector<Transfer> refs;   // stay in the registers, which own them until the call is done
  std::vector<Transfer> counts; // number of a span's tuples → slot
  std::vector<uint16_t> moved;  // reference registers that are empty after the call
  std::vector<Transfer> result_words; // slot → register
  std::vector<Transfer> result_wide_words;
  std::vector<Transfer> result_refs;
};

struct FunctionCode {
  std::vector<Cell> cells;
  uint32_t word_count = 0; // even
  uint32_t ref_count = 0;
  const Signature* signature = nullptr;
  bytecode::ArgumentLayout arguments;
  // Where the results are in the frame of a caller outside of the VM, and what runs on return
  // there: the registers of the results, then the end.
  bytecode::ArgumentLayout results;
  std::vector<Cell> host_return;
  std::vector<std::unique_ptr<ImportCall>> import_calls;
  std::vector<std::unique_ptr<std::string>> texts; // of traced operations
  struct Position {
    uint32_t cell;
    uint32_t pc;
  };
  std::vector<Position> positions; // by cell, ascending
  uint32_t ordinal = 0;

  FunctionCode(const Signature& signature, bytecode::ArgumentLayout arguments,
               bytecode::ArgumentLayout results)
      : signature(&signature), arguments(std::move(arguments)), results(std::move(results)) {}
  // Byte offset of the operation that `pc` belongs to.
  uint32_t offsetOf(const Cell* pc) const;
};

// A bytecode module's state in one context.
struct ModuleState {
  const BytecodeModule* module = nullptr;
  std::unique_ptr<std::byte[]> globals;
  uint32_t global_bytes = 0;
  std::vector<RawRef> global_refs;
  std::vector<CallTarget> imports;

  ModuleState() = default;
  ModuleState(const ModuleState&) = delete;
  ModuleState& operator=(const ModuleState&) = delete;
  ~ModuleState() {
    for (RawRef& ref : global_refs)
      release(ref);
  }
};

} // namespace bessemer::vm::interpreter
