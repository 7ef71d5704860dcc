// The processor that code is made for.
#pragma once

#include "metal/cpu/codegen/codegen.h"
#include "metal/cpu/passes/vectorize.h"

#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace bessemer::metal::cpu {

/// What the passes must know about a processor.
struct TargetTraits {
  int vector_bits = 128;             ///< of the widest vector registers
  bool has_gather = false;           ///< vector gathers of 32 and 64 bits
  bool has_masked_memory = false;    ///< vector loads and stores under masks, any element size
  bool has_window_permutes = false;  ///< AVX-512 and pdep
  bool has_dot_products = false;     ///< of four bytes, unsigned by signed
  bool has_streaming_stores = false; ///< of whole cache lines, ordered by a fence
  bool has_bfloat = false;           ///< rounds float to bfloat in vectors
  std::string cpu;
  std::string features;
};

struct Target {
  llvm::TargetMachine* machine = nullptr;
  TargetTraits traits;
};

/// The target of `options`; it belongs to the calling thread and lives as long.
llvm::Expected<Target> get_target(const KernelOptions& options);

/// How to vectorise for such a processor.
VectorizeOptions vectorize_options(const TargetTraits& traits, int lanes,
                                   const std::array<uint32_t, 3>& threads);

} // namespace bessemer::metal::cpu
