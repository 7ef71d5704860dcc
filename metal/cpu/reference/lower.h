// Turns an AIR kernel into a plain function that one thread runs, with a call out for each
// operation of AIR and, where threads must meet, a note of where in the program the thread stands.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metal/air/signature.h"
#include "metal/cpu/reference/operations.h"

namespace bessemer::metal::cpu::reference {

inline constexpr unsigned kBuiltins = 32;
inline constexpr unsigned kMaxBuffers = 31;

// What the lowered kernel reads its arguments from.
struct ThreadArguments {
  void* buffers[kMaxBuffers];
  void* threadgroup[kMaxBuffers];
  uint32_t builtins[kBuiltins][3]; // by air::Builtin
};

struct LoweredKernel {
  // Kept alive as long as the code: calls out pass pointers into it.
  std::vector<std::unique_ptr<CallShape>> shapes;
  std::string entry;       // void (ThreadArguments*)
  bool collective = false; // threads meet
  uint32_t used_buffers = 0;
  // Symbols of the threadgroup's static memory, with sizes.
  std::vector<std::pair<std::string, uint64_t>> threadgroup_memory;
};

// The calls out, defined by the program that runs the code.
inline constexpr const char kInvokeSymbol[] = "bessemer_reference_invoke";
// void (const CallShape*, const void* operands, void* result, const uint32_t* position, uint32_t
// count)

// Works on `module` in place. An error names an operation that is not known. `lockstep`: the lanes
// of a simdgroup meet before and after each store to memory that they share.
llvm::Expected<LoweredKernel> lower(llvm::Module& module, llvm::StringRef function, bool lockstep);

} // namespace bessemer::metal::cpu::reference
