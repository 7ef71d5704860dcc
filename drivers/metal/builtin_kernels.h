// Kernels of the driver's own: fills and copies that blits do not do.
#pragma once

#include <memory>

#include "drivers/metal/pipeline.h"

namespace bessemer::metal_driver {

/// Bytes that one thread of either kernel handles, and threads of a threadgroup.
constexpr uint32_t kBytesPerThread = 16;
constexpr uint32_t kThreadsPerThreadgroup = 64;

/// What `fill_bytes` takes at buffer(1): target at buffer(0), any alignment.
struct FillArguments {
  uint64_t length;
  /// Repeated from the first byte of the range on.
  uint32_t pattern;
  uint32_t reserved;
};

/// What `copy_bytes` takes at buffer(2): source at buffer(0), target at buffer(1).
struct CopyArguments {
  uint64_t length;
};

/// Compiled when first used.
class BuiltinKernels {
public:
  explicit BuiltinKernels(std::shared_ptr<PipelineCache> cache) : cache_(std::move(cache)) {}

  std::shared_ptr<Pipeline> fill() { return Get("fill_bytes", fill_); }
  std::shared_ptr<Pipeline> copy() { return Get("copy_bytes", copy_); }

private:
  std::shared_ptr<Pipeline> Get(const char* entry_point, std::shared_ptr<Pipeline>& pipeline);

  std::shared_ptr<PipelineCache> cache_;
  std::mutex mutex_;
  std::shared_ptr<Pipeline> fill_;
  std::shared_ptr<Pipeline> copy_;
};

} // namespace bessemer::metal_driver
