// How the executor calls a compiled kernel. The code generator (in libMetalCompiler) and the executor
// (in libMetal) both follow this file; changing it changes BESSEMER_KERNEL_ABI.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BESSEMER_KERNEL_ABI 1
#define BESSEMER_MAX_BUFFERS 31

// What is the same for every threadgroup of a dispatch. Read only while the kernel runs.
typedef struct bessemer_dispatch_t {
  // Host address of what is bound to [[buffer(n)]] (offset added); null when nothing is.
  void* buffers[BESSEMER_MAX_BUFFERS];
  // Offset of [[threadgroup(n)]] from the start of the threadgroup memory block; these parts follow
  // the static one.
  uint32_t threadgroup_offsets[BESSEMER_MAX_BUFFERS];
  uint32_t threads_per_grid[3];
  uint32_t threadgroups_per_grid[3];
  // As dispatched; a threadgroup at the grid's edge may have fewer threads:
  // min(threads_per_threadgroup, threads_per_grid - position * threads_per_threadgroup) in each
  // dimension. Variants for a fixed size are called only for whole threadgroups of that size.
  uint32_t threads_per_threadgroup[3];
  // The box of threadgroups that this call's linear range counts through, x fastest.
  uint32_t region_origin[3];
  uint32_t region_size[3];
} bessemer_dispatch_t;

// Runs the threadgroups first..last-1 of the region, one after the other.
// `threadgroup_memory`: static part, then [[threadgroup(n)]] parts; 64-byte aligned; contents undefined.
// `frame`: Kernel.frame_bytes (for a variant of any size: times the number of simdgroups of a
// threadgroup) of scratch at Kernel.frame_alignment; contents undefined.
// The caller has set MXCSR as the kernel's math mode wants; the kernel calls nothing but the symbols
// that the loader lists (memcpy, memmove, memset and the like), takes no lock and does not unwind.
typedef void (*bessemer_kernel_entry_t)(const bessemer_dispatch_t* dispatch, uint64_t first,
                                        uint64_t last, void* threadgroup_memory, void* frame);

#ifdef __cplusplus
}
#endif
