// Memory for argument buffers: one block for each replay of a command list.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "drivers/metal/device_memory.h"

namespace bessemer::metal_driver {

/// Blocks that are used again when the work that read them is done. Thread safe.
class ArgumentArena {
public:
  struct Block {
    MetalPtr<MTL::Buffer> buffer;
    uint8_t* contents = nullptr;
  };

  explicit ArgumentArena(std::shared_ptr<DeviceMemory> memory) : memory_(std::move(memory)) {}
  ~ArgumentArena() { Trim(); }

  /// At least `size` bytes; an empty block for 0.
  iree_status_t Acquire(iree_device_size_t size, Block* out_block);
  void Release(Block block);
  void Trim();

private:
  static constexpr iree_device_size_t kMinBlockSize = 16 * 1024;
  static constexpr int kClassCount = 16;

  std::shared_ptr<DeviceMemory> memory_;
  std::mutex mutex_;
  // By power of two.
  std::vector<Block> free_[kClassCount];
};

} // namespace bessemer::metal_driver
