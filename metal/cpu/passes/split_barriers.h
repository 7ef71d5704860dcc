// Threadgroups of several vectors: the vector function is cut where the vectors must meet.
#pragma once

#include "metal/cpu/passes/vectorize.h"

#include "llvm/IR/Function.h"

namespace bessemer::metal::cpu {

/// void (ptr buffer..., ptr dispatch, ptr threadgroup_memory, i32 group_x, i32 group_y, i32
/// group_z,
///       i32 vectors, ptr frame): runs a whole threadgroup.
struct GroupFunction {
  llvm::Function* function = nullptr;
  uint64_t record_bytes = 0; ///< of the frame, for each vector; a multiple of 64
  unsigned regions = 1;
};

/// Makes the function of a whole threadgroup from `vector`, which is removed if it has barriers and
/// called otherwise. Each region between barriers is run for all vectors before the next begins;
/// values that live across a barrier are kept in the vectors' records, after the `private_bytes`
/// that hold their private arrays. `vectors`: of a threadgroup, 0 when known only at run time.
GroupFunction split_barriers(const VectorFunction& vector, unsigned vectors, uint64_t private_bytes,
                             bool distinct_buffers);

} // namespace bessemer::metal::cpu
