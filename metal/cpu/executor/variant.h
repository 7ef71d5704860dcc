// A pipeline's machine code for one threadgroup size.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/cpu/executor/grid.h"
#include "metal/cpu/executor/object_loader.h"

namespace bessemer::metal::cpu {

class Variant {
public:
  // Something that waits for the code without a thread. Called once, on a compile thread, outside
  // the lock.
  struct Waiter {
    void (*compiled)(Waiter* self) = nullptr;

  private:
    friend class Variant;
    Waiter* next_ = nullptr;
  };

  enum class State : uint8_t { Compiling, Ready, Failed };

  // `kernel_name` is the function's name and outlives this.
  Variant(std::string_view kernel_name, Size3 threads, bool distinct_buffers)
      : kernel_name_(kernel_name), threads_(threads), distinct_buffers_(distinct_buffers) {}

  Size3 threads() const { return threads_; }
  bool distinct_buffers() const { return distinct_buffers_; }
  bool any_size() const { return threads_ == Size3{}; }

  // May it be used for a dispatch of that size, whose buffers are distinct or not?
  bool serves(Size3 threads, bool distinct_buffers) const {
    if (threads != threads_)
      return false;
    // Code that made no use of the promise serves both.
    return distinct_buffers == distinct_buffers_ ||
           (distinct_buffers_ && state() == State::Ready && !needs_distinct_buffers_);
  }

  // "kernel 'name' for 8x8x1 threads", for messages.
  std::string describe() const;

  State state() const { return state_.load(std::memory_order_acquire); }
  // True: `waiter` will be called. False: it will not, compiling is over.
  bool add_waiter(Waiter* waiter);

  // ---- Once Ready ----
  bessemer_kernel_entry_t entry() const { return entry_; }
  uint32_t threadgroup_bytes() const { return threadgroup_bytes_; }
  uint32_t used_buffers() const { return used_buffers_; }
  bool flush_denormals() const { return flush_denormals_; }
  uint64_t frame_alignment() const { return frame_alignment_; }
  // Scratch of one call for a threadgroup of `threads` threads.
  uint64_t frame_bytes(uint64_t threads) const {
    return any_size() ? frame_bytes_ * ((threads + 31) / 32) : frame_bytes_;
  }

  // ---- Once Failed ----
  const std::string& message() const { return message_; }

  // How long a threadgroup took of late, by which grids are shared out or not. 0: never run.
  float nanoseconds_per_threadgroup() const { return cost_.load(std::memory_order_relaxed); }
  void add_measurement(float nanoseconds_per_threadgroup) {
    const float before = cost_.load(std::memory_order_relaxed);
    // Racing threads may lose a sample; each is only a hint.
    cost_.store(before == 0 ? nanoseconds_per_threadgroup
                            : before + (nanoseconds_per_threadgroup - before) / 4,
                std::memory_order_relaxed);
  }

private:
  friend class Pipeline;
  // Called once, by whoever compiled.
  void finish(const Expected<KernelTable>& kernel);
  Expected<void> load(const metal::Kernel& kernel);

  std::string_view kernel_name_;
  Size3 threads_;
  bool distinct_buffers_;
  std::atomic<State> state_{State::Compiling};
  std::atomic<float> cost_{0};
  bessemer_kernel_entry_t entry_ = nullptr;
  uint32_t threadgroup_bytes_ = 0;
  uint32_t used_buffers_ = 0;
  bool flush_denormals_ = false;
  bool needs_distinct_buffers_ = false;
  uint64_t frame_bytes_ = 0;
  uint64_t frame_alignment_ = 64;
  LoadedObject object_;
  std::string message_;
  std::mutex mutex_;
  Waiter* waiters_ = nullptr;
};

} // namespace bessemer::metal::cpu
