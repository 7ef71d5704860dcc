#include "drivers/metal/argument_arena.h"

#include <bit>

namespace bessemer::metal_driver {
namespace {

constexpr iree_hal_memory_type_t kType =
    IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;

} // namespace

iree_status_t ArgumentArena::Acquire(iree_device_size_t size, Block* out_block) {
  *out_block = {};
  if (size == 0)
    return iree_ok_status();
  iree_device_size_t block_size = std::bit_ceil(std::max(size, kMinBlockSize));
  int size_class = std::countr_zero(block_size / kMinBlockSize);
  if (size_class < kClassCount) {
    std::lock_guard lock(mutex_);
    if (!free_[size_class].empty()) {
      *out_block = std::move(free_[size_class].back());
      free_[size_class].pop_back();
      return iree_ok_status();
    }
  }
  iree_hal_buffer_params_t params = {};
  params.type = kType;
  IREE_RETURN_IF_ERROR(memory_->Allocate(params, block_size, &out_block->buffer),
                       "for argument buffers");
  memory_->Adopt(out_block->buffer.get(), kType, /*is_owned=*/false);
  out_block->contents = static_cast<uint8_t*>(out_block->buffer->contents());
  return iree_ok_status();
}

void ArgumentArena::Release(Block block) {
  if (!block.buffer)
    return;
  int size_class = std::countr_zero(block.buffer->length() / kMinBlockSize);
  if (size_class < kClassCount) {
    std::lock_guard lock(mutex_);
    free_[size_class].push_back(std::move(block));
  } else {
    memory_->Forget(block.buffer.get(), kType, /*is_owned=*/false);
  }
}

void ArgumentArena::Trim() {
  std::lock_guard lock(mutex_);
  for (auto& blocks : free_) {
    for (Block& block : blocks)
      memory_->Forget(block.buffer.get(), kType, /*is_owned=*/false);
    blocks.clear();
  }
}

} // namespace bessemer::metal_driver
