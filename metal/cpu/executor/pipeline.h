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
#include "metal/cpu/executor/binding.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/cpu/executor/error.h"
#include "metal/cpu/executor/grid.h"

namespace bessemer::metal::cpu {

class Variant;

struct PipelineDescriptor {
  LibraryTable library; // kept
  std::string function;
  std::vector<ConstantValue> constants;
};

// Thread safe.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
public:
  // Does everything that can fail, and blocks for it. Code is made once a threadgroup size is
  // known, by `prepare`.
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
  // pipeline. All 0: the code for any size.
  Variant* prepare(Size3 threads, bool distinct_buffers);

  // True when no bound range that the kernel may write overlaps another bound range that it uses.
  // Element n is bound to [[buffer(n)]].
  bool buffers_are_distinct(std::span<const Binding> bindings) const;

private:
  explicit Pipeline(CompilerService& compiler, PipelineDescriptor descriptor);

  Expected<void> find_function();
  KernelRequest request(Size3 threads, bool distinct_buffers) const;
  Variant* find(Size3 threads, bool distinct_buffers);

  CompilerService& compiler_;
  PipelineDescriptor descriptor_;
  const metal::Function* function_ = nullptr;
  std::span<const uint8_t> bitcode_;
  uint32_t threadgroup_bytes_ = 0;
  uint32_t used_buffers_ = 0;
  uint32_t written_buffers_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Variant>> variants_;
  std::atomic<Variant*> latest_{nullptr}; // dispatches of one size come in rows
};

} // namespace bessemer::metal::cpu
