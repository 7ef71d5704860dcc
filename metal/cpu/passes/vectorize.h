// From a thread function to one that runs a whole vector of threads.
#pragma once

#include "metal/cpu/passes/bind_arguments.h"

#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace bessemer::metal::cpu {

struct VectorizeOptions {
  int lanes = 32;
  uint32_t threads[3] = {0, 0, 0};  ///< all 0: known only at run time
  int vector_bits = 512;            ///< of the target's widest registers
  bool has_gather = true;           ///< for elements of 32 and 64 bits
  bool has_masked_memory = true;    ///< vector loads and stores under masks, any element size
  bool has_window_permutes = true;  ///< x86: AVX-512 and pdep
  bool has_streaming_stores = true; ///< of whole cache lines, ordered by a fence
  bool has_bfloat = true;           ///< rounds float to bfloat in vectors
};

/// void (ptr buffer..., ptr dispatch, ptr threadgroup_memory, i32 group_x, i32 group_y, i32
/// group_z,
///       i32 vector, ptr record): runs the threads vector * lanes and up. `record` is the vector's
/// own part of the frame and begins with its private arrays.
struct VectorFunction {
  llvm::Function* function = nullptr;
  unsigned buffer_count = 0;
  bool has_streaming_stores = false; ///< the caller must fence before others may see them
  unsigned barrier_count = 0; ///< calls of spmd.barrier, void (), left for passes/split_barriers

  unsigned dispatch_index() const { return buffer_count; }
  unsigned threadgroup_memory_index() const { return buffer_count + 1; }
  unsigned group_index() const { return buffer_count + 2; }
  unsigned vector_index() const { return buffer_count + 5; }
  unsigned record_index() const { return buffer_count + 6; }
};

/// Name of the calls that mark where all vectors of a threadgroup must meet.
inline constexpr llvm::StringLiteral barrier_name = "spmd.barrier";

/// `thread` must have gone through passes/linearize; it is left unchanged.
llvm::Expected<VectorFunction> vectorize(const ThreadFunction& thread,
                                         const VectorizeOptions& options);

} // namespace bessemer::metal::cpu
