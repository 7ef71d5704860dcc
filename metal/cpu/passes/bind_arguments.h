// From a kernel with AIR's signature to a thread function, which asks for everything that differs
// between threads and threadgroups by calls of analysis/spmd.h.
#pragma once

#include "metal/air/signature.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace bessemer::metal::cpu {

/// void (ptr addrspace(1|2) buffer..., ptr dispatch, ptr addrspace(3) threadgroup_memory).
struct ThreadFunction {
  llvm::Function* function = nullptr;
  /// n of [[buffer(n)]] for each leading parameter, ascending.
  std::vector<uint32_t> buffers;
  uint32_t threadgroup_bytes = 0;

  llvm::Argument* dispatch() const { return function->getArg(unsigned(buffers.size())); }
  llvm::Argument* threadgroup_memory() const {
    return function->getArg(unsigned(buffers.size()) + 1);
  }
};

/// Makes the thread function of `signature`'s kernel, with everything that the kernel calls
/// inlined, and removes every other function body. `threads`: of the threadgroup, all 0 when known
/// only at run time. Threadgroup variables become offsets into threadgroup memory.
llvm::Expected<ThreadFunction> bind_arguments(llvm::Module& module, const air::Signature& signature,
                                              const uint32_t threads[3]);

/// Threads of this threadgroup: a constant, or a value computed at `builder` from the dispatch.
llvm::Value* emit_thread_count(llvm::IRBuilderBase& builder, const ThreadFunction& thread,
                               const uint32_t threads[3]);

} // namespace bessemer::metal::cpu
