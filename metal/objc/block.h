// Blocks, as clang compiles `^{...}`; the runtime calls clients' blocks without being compiled with
// -fblocks itself.
#pragma once

#include <utility>

#include "metal/objc/abi.h"

namespace objc {

extern "C" {
void* _Block_copy(const void* block);
void _Block_release(const void* block);
}

template <class Signature>
struct Block;

// A parameter of block type is `objc::Block<void(CommandBuffer*)>*`.
template <class R, class... Arguments>
struct Block<R(Arguments...)> {
  Class* isa;
  int flags;
  int reserved;
  R (*invoke)(Block* self, Arguments...);

  R operator()(Arguments... arguments) { return invoke(this, arguments...); }
};

template <class Signature>
class BlockRef;

// Owns a copy of a block.
template <class R, class... Arguments>
class BlockRef<R(Arguments...)> {
public:
  using Type = Block<R(Arguments...)>;

  BlockRef() = default;
  explicit BlockRef(Type* block) : block_(static_cast<Type*>(_Block_copy(block))) {}
  BlockRef(const BlockRef& other) : BlockRef(other.block_) {}
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  ~BlockRef() { _Block_release(block_); }
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }

  explicit operator bool() const { return block_ != nullptr; }
  Type* get() const { return block_; }
  R operator()(Arguments... arguments) const { return block_->invoke(block_, arguments...); }

private:
  Type* block_ = nullptr;
};

} // namespace objc
