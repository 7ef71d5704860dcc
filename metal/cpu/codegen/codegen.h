// One kernel of an AIR module to machine code that runs whole simdgroups in vector registers.
#pragma once

#include "metal/air/stage_clock.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bessemer::metal::cpu {

/// What `compile_kernel` leaves in `CompiledKernel::bytes`.
enum class KernelOutput {
  Object,   ///< ELF relocatable object
  Assembly, ///< text
  VectorIr, ///< text of the LLVM IR after vectorising and optimising
  Summary,  ///< nothing: only what cannot fail any more is left out
};

/// What code to make. Part of every cache key: equal options and equal AIR give equal code.
struct KernelOptions {
  /// The kernel's name in the module (`!air.kernel`).
  std::string function;
  /// Threads of a threadgroup, x y z. All 0: any size, read from the dispatch at run time.
  std::array<uint32_t, 3> threads = {0, 0, 0};
  /// The caller promises that no two bound ranges overlap.
  bool distinct_buffers = false;
  /// LLVM triple, CPU and feature string. All empty: this machine with all it has; an empty triple:
  /// this kind of machine, with what `cpu` has.
  std::string triple;
  std::string cpu;
  std::string features;
  KernelOutput output = KernelOutput::Object;
  /// Lanes of one vector: 0 chooses by the kernel and the target, else 8, 16, 32, 64 or 128. For
  /// tests and measurements; a kernel with cross-lane operations always takes 32.
  uint32_t lanes = 0;
};

/// A kernel ready for the loader of metal/cpu/executor; fields as in kernel.fbs.
struct CompiledKernel {
  /// The object or text that KernelOptions::output asked for. An object refers to no symbol but
  /// memcpy, memmove, memset and memcmp.
  std::vector<uint8_t> bytes;
  /// Symbol of the function of type bessemer_kernel_entry_t.
  std::string entry;
  /// Static threadgroup memory, a multiple of 16.
  uint32_t threadgroup_bytes = 0;
  /// Scratch for one threadgroup, or for one simdgroup in a variant of any size.
  uint64_t frame_bytes = 0;
  uint32_t frame_alignment = 64;
  uint32_t lanes = 0;
  /// Bit n: [[buffer(n)]] is read or written.
  uint32_t used_buffers = 0;
  bool needs_distinct_buffers = false;
  /// The module lets subnormal numbers be flushed to zero.
  bool flush_denormals = false;
  std::vector<air::StageTime> stages;
};

/// Compiles one kernel. `air` is a module as Apple's compiler or metal/msl writes it, with function
/// constants already set by metal/air; it is consumed. Safe to call from several threads, each with
/// a module in its own LLVMContext. An error is one line that names the construct.
llvm::Expected<CompiledKernel> compile_kernel(std::unique_ptr<llvm::Module> air,
                                              const KernelOptions& options);

/// The triple, CPU and feature string that an empty KernelOptions::triple stands for.
struct HostTarget {
  std::string triple;
  std::string cpu;
  std::string features;
};
const HostTarget& host_target();

} // namespace bessemer::metal::cpu
