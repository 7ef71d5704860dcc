// Compiled functions: what is needed to dispatch one, shared by all executables with its content.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "drivers/metal/executable_format.h"
#include "drivers/metal/objects.h"
#include "iree/async/semaphore.h"

namespace bessemer::metal_driver {

/// One function of a library, compiled in the background. Immutable once ready.
class Pipeline {
public:
  static constexpr uint16_t kNoOffset = UINT16_MAX;

  Pipeline();
  ~Pipeline();

  /// Reaches 1 when the pipeline is ready, or fails with what the compiler said.
  iree_async_semaphore_t* ready() const { return ready_; }

  // Only when ready.
  MTL::ComputePipelineState* state() const { return state_.get(); }
  /// Bytes of the argument buffer at buffer(0); 0 when the function takes none.
  uint32_t argument_size() const { return argument_size_; }
  /// Where the address of a binding lies in it, kNoOffset when the function does not use it.
  uint16_t argument_offset(uint32_t binding) const { return argument_offsets_[binding]; }
  /// Whether constants are taken, at buffer(3).
  bool takes_constants() const { return takes_constants_; }

private:
  friend class PipelineCache;

  void Finish(MetalPtr<MTL::ComputePipelineState> state,
              const MTL::ComputePipelineReflection* reflection);
  void ReadArgumentLayout(const MTL::StructType* type);

  iree_async_semaphore_t* ready_ = nullptr;
  MetalPtr<MTL::ComputePipelineState> state_;
  std::array<uint16_t, kMaxBindingCount> argument_offsets_;
  uint32_t argument_size_ = 0;
  bool takes_constants_ = false;
};

/// Pipelines by content: the same function of the same library is compiled once. Thread safe.
class PipelineCache {
public:
  explicit PipelineCache(MetalPtr<MTL::Device> device) : device_(std::move(device)) {}

  /// Returns at once; compiling, unless it was done before, goes on in the background.
  std::shared_ptr<Pipeline> Get(const LibrarySource& library, const FunctionSource& function);

private:
  MetalPtr<MTL::Device> device_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Pipeline>> pipelines_;
};

} // namespace bessemer::metal_driver
