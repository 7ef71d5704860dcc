// A kernel and all that one run of it needs, as a file between kernel_check and the runner for
// another kind of processor (kernel_runner.cc). The runner leaves results where the data was.
#pragma once

#include <cstdint>

namespace bessemer::kernels {

struct KernelJob {
  static constexpr uint32_t kVersion = 1;
  static constexpr int32_t kNothing = -1;   // no buffer is bound
  static constexpr int32_t kConstants = -2; // `constants`
  static constexpr int32_t kArguments = -3; // pointers to regions, as `pointers` says
  static constexpr uint32_t kArgumentBytes = 512;

  // Into the memory of argument buffer `buffer`.
  struct Pointer {
    uint32_t buffer;
    uint32_t offset;
    uint32_t region;
  };

  uint32_t version = kVersion;
  uint32_t region_count = 0;
  // Region n's data begins at regions_offset + n * filled of the file, `reach` zeros lie around it.
  // Offsets of regions are multiples of a page.
  uint64_t regions_offset = 0;
  uint64_t filled = 0;
  uint64_t reach = 0;
  uint64_t object_offset = 0;
  uint64_t object_size = 0;
  char entry[256] = {};
  uint32_t threadgroups[3] = {};
  uint32_t threads[3] = {}; // of a threadgroup
  uint64_t frame_bytes = 0;
  uint32_t frame_alignment = 0;
  uint32_t threadgroup_bytes = 0;
  uint32_t flush_denormals = 0;
  int32_t buffers[31] = {}; // number of a region, or one of the above
  uint32_t constants[32] = {};
  uint32_t pointer_count = 0;
  Pointer pointers[64] = {};
};

} // namespace bessemer::kernels
