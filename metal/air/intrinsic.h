// The names of AIR's functions, taken apart: `air.simd_shuffle_down.u.v2i32` is the operation
// SimdShuffleDown on unsigned vectors of two 32-bit integers.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace bessemer::air {

enum class Operation : uint8_t {
#define BESSEMER_AIR_OPERATION(id, name, group) id,
#include "metal/air/operations.def"
};

/// What an operation needs from a back end.
enum class OperationGroup : uint8_t {
  Math,      // of its operands alone; floating point
  Integer,   // of its operands alone; integers and bits
  Convert,   // between number formats
  Simdgroup, // among the lanes of a simdgroup
  Quadgroup, // among four neighbouring lanes
  Matrix,    // 8x8 matrices spread over a simdgroup
  Barrier,   // threads wait for each other
  Atomic,    // memory that other threads change
  Thread,    // asks who the thread is
  Hint,      // says something to the optimiser or the specialiser
  Texture,   // needs textures, which the compute back ends here do not have
};

/// One overloaded type in a name.
struct OverloadType {
  enum class Format : uint8_t { None, Float, BFloat, Integer } format = Format::None;
  // 's' or 'u' where the name says, else 0.
  char sign = 0;
  uint8_t bits = 0;
  uint8_t lanes = 1;         // 64 for a matrix
  int8_t address_space = -1; // the type is a pointer to the rest
};

struct Intrinsic {
  Operation operation;
  OperationGroup group;
  bool fast = false;        // air.fast_*: less accurate, quicker
  bool threadgroup = false; // air.atomic.local.*: threadgroup memory, else device memory
  llvm::SmallVector<OverloadType, 4> types; // in the order of the name
};

/// Nothing for a name that is not in AIR's form or whose operation is not known.
std::optional<Intrinsic> parse_intrinsic(llvm::StringRef name);

llvm::StringRef operation_name(Operation operation);

} // namespace bessemer::air
