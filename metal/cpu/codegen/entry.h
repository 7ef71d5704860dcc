// The function that the executor calls.
#pragma once

#include "metal/cpu/passes/bind_arguments.h"
#include "metal/cpu/passes/split_barriers.h"

namespace bessemer::metal::cpu {

/// Adds a function of type bessemer_kernel_entry_t that runs a range of threadgroups by `group`,
/// whose parameters are those of `vector` with the number of vectors in the vector's place.
llvm::Function* make_entry(llvm::Module& module, llvm::StringRef name, const ThreadFunction& thread,
                           const VectorFunction& vector, const GroupFunction& group, int lanes,
                           const uint32_t threads[3]);

} // namespace bessemer::metal::cpu
