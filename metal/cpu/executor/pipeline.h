// A kernel function with its constants set, compiled for each threadgroup size that it is run with.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/cpu/executor/error.h"
#include "metal/cpu/executor/grid.h"

namespace bessemer::metal::cpu {

class Variant;

struct PipelineDescriptor {
  LibraryTable library; // kept
  std::string function;
  std::vector<ConstantValue> constants;
  // The threadgroup size that is compiled when the pipeline is made. All 0: the compiler's code for
  // any size, which every grid that does not divide evenly needs.
  Size3 first_size;
};

// Thread safe.
class Pipeline {
public:
  // Does everything that can fail: compiles one variant and loads it. Blocks.
  static Expected<std::shared_ptr<Pipeline>> create(CompilerService& compiler,
                                                    PipelineDescriptor descriptor);
  ~Pipeline();

  const std::string& name() const { return descriptor_.function; }
  const metal::Function& function() const { return *function_; }
  const LibraryTable& library() const { return descriptor_.library; }

  // Static threadgroup memory, in bytes.
  uint32_t threadgroup_bytes() const { return threadgroup_bytes_; }
  // Bit n: [[buffer(n)]] is used by the kernel.
  uint32_t used_buffers() const { return used_buffers_; }
  // Bit n: [[buffer(n)]] may be written.
  uint32_t written_buffers() const { return written_buffers_; }

  // Starts compiling for a threadgroup size (or finds that it was started) and returns without
  // waiting. Command lists call it when a dispatch is recorded. The variant lives as long as the
  // pipeline.
  Variant* prepare(Size3 threads, bool distinct_buffers);

  // True when no range that the kernel writes overlaps another bound range. `lengths[n]` is that of
  // the memory bound at `addresses[n]`.
  bool buffers_are_distinct(std::span<void* const> addresses,
                            std::span<const uint64_t> lengths) const;

private:
  explicit Pipeline(CompilerService& compiler, PipelineDescriptor descriptor);

  CompilerService& compiler_;
  PipelineDescriptor descriptor_;
  const metal::Function* function_ = nullptr;
  std::span<const uint8_t> bitcode_;
  uint32_t threadgroup_bytes_ = 0;
  uint32_t used_buffers_ = 0;
  uint32_t written_buffers_ = 0;
  bool may_distinguish_ = false; // a variant for distinct buffers can differ from the general one
  std::mutex mutex_;
  std::vector<std::unique_ptr<Variant>> variants_;
  std::atomic<Variant*> latest_{nullptr};
};

} // namespace bessemer::metal::cpu
