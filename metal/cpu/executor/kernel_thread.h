// What a thread needs to run kernels: memory for threadgroups and frames, and a way back when the
// kernel faults or does not end.
#pragma once

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <string>

namespace bessemer::metal::cpu {

// A block of memory that grows and is kept.
class ScratchMemory {
public:
  ScratchMemory() = default;
  ~ScratchMemory();
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  // At least `size` bytes at a multiple of `alignment` (a power of two); contents undefined, the
  // block before it is gone. Null when there is no memory.
  void* reserve(size_t size, size_t alignment);

private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// How a call into a kernel ended, when not by returning.
struct KernelFault {
  int signal = 0;        // 0: the watchdog's
  uintptr_t address = 0; // what was touched, or the instruction
  uintptr_t instruction = 0;
};

// The thread's own; made when it runs its first kernel.
class KernelThread {
public:
  static KernelThread& current();

  // Calls `body`: a kernel, or something else that takes no lock and needs no unwinding. False when
  // it was ended, and `fault` tells how. What it had written until then stays.
  bool run(void (*body)(void* context), void* context, bool flush_denormals, KernelFault* fault);

  ScratchMemory& threadgroup_memory() { return threadgroup_memory_; }
  ScratchMemory& frame() { return frame_; }

  // For the watchdog: odd while a kernel runs, different for each call.
  uint64_t sequence() const { return sequence_.load(std::memory_order_relaxed); }
  // Ends the call with this number if it still runs. Any thread, under the registry's lock.
  void interrupt(uint64_t sequence);

private:
  friend class KernelThreadRegistry;
  friend class FaultHandler;
  KernelThread();
  ~KernelThread();

  std::atomic<uint64_t> sequence_{0};
  std::atomic<uint64_t> interrupted_{0}; // the call that the watchdog wants ended
  sigjmp_buf return_point_;
  KernelFault fault_;
  sigset_t signal_mask_;
  pthread_t thread_;
  void* signal_stack_ = nullptr;
  KernelThread* previous_ = nullptr;
  KernelThread* next_ = nullptr;
  ScratchMemory threadgroup_memory_;
  ScratchMemory frame_;
};

// Every thread that has run a kernel and lives.
class KernelThreadRegistry {
public:
  // Calls `visit(thread)` for each, under the lock that keeps them alive.
  template <typename Visit>
  static void for_each(Visit&& visit) {
    lock();
    for (KernelThread* thread = first(); thread; thread = thread->next_)
      visit(*thread);
    unlock();
  }

private:
  friend class KernelThread;
  static void lock();
  static void unlock();
  static KernelThread*& first();
};

// One line for people: "read or write of 0x10 failed (SIGSEGV)".
std::string describe(const KernelFault& fault);

} // namespace bessemer::metal::cpu
