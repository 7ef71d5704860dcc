// The unit of execution: steps recorded once, run in order by a queue. Steps between two barriers
// may run at the same time; a wait, a signal and a host function are barriers themselves.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "metal/cpu/executor/binding.h"
#include "metal/cpu/executor/grid.h"

namespace bessemer::metal::cpu {

class Executor;
class ListExecution;
class Pipeline;
class QueueOrder;
class Timeline;

struct Dispatch {
  std::shared_ptr<Pipeline> pipeline;
  std::span<const Binding> buffers;              // element n: [[buffer(n)]]; at most 31
  std::span<const uint32_t> threadgroup_lengths; // element n: bytes of [[threadgroup(n)]]
  // Exact, in threads; for dispatchThreadgroups the product.
  Size3 threads_per_grid;
  Size3 threads_per_threadgroup; // no zero; at most 1,024 together
  // Bit n: [[buffer(n)]] is not what it was in the dispatch that was given to the list before. All:
  // nothing is known of that one.
  uint32_t changed = ~uint32_t{0};
};

enum class ListState : uint8_t { Recording, Enqueued, Committed, Scheduled, Completed, Failed };

enum class ListErrorCode : uint8_t {
  None,
  Timeout,         // the watchdog ended a kernel
  PageFault,       // a kernel touched memory that is not there
  ArithmeticFault, // SIGFPE, an illegal instruction
  Compile,         // a variant for this threadgroup size could not be compiled
  OutOfMemory,     // for threadgroup memory or frames
  InvalidDispatch, // limits exceeded, an indirect grid too large
};

struct ListResult {
  ListErrorCode code = ListErrorCode::None;
  std::string message;           // empty when code is None
  int64_t start_nanoseconds = 0; // CLOCK_MONOTONIC; of the first step
  int64_t end_nanoseconds = 0;   // of the last
  bool ok() const { return code == ListErrorCode::None; }
};

// Recorded by one thread at a time. After commit nothing may be recorded until `reset`. Whoever
// commits keeps the memory that the steps use alive until completion; the list keeps pipelines and
// timelines alive. `Queue::commit` keeps the list alive until it has completed.
class CommandList : public std::enable_shared_from_this<CommandList> {
public:
  static std::shared_ptr<CommandList> create(Executor& executor);
  ~CommandList();

  // ---- Recording ----
  // Starts compiling what the dispatch needs. A bad dispatch (over a limit) fails the list when
  // run.
  void dispatch(const Dispatch& dispatch);
  // `threadgroups` points to three 32-bit numbers, read when the step runs; threads_per_grid of
  // `dispatch` is ignored.
  void dispatch_indirect(const Dispatch& dispatch, const uint32_t* threadgroups);
  void fill(void* target, uint64_t length, uint8_t value);
  // Repeats the pattern of 1, 2, 4, 8 or 16 bytes; the last may be cut off.
  void fill(void* target, uint64_t length, std::span<const uint8_t> pattern);
  void copy(void* target, const void* source, uint64_t length);
  // Steps after it run when all before it are done.
  void barrier();
  // Holds up this list and its queue, no thread and no other queue.
  void wait(std::shared_ptr<Timeline> timeline, uint64_t value);
  // Happens also when an earlier step failed, so that nobody waits for ever.
  void signal(std::shared_ptr<Timeline> timeline, uint64_t value);
  // Runs on a worker, unless an earlier step failed: short, without blocking, without calling
  // clients' code.
  void host_function(void (*function)(void* context), void* context);
  // Records steps when the list gets there, in the place of this one (indirect command buffers).
  // Called as a host function is; `record` may call what is under Recording but this.
  void expand(void (*record)(CommandList& list, void* context), void* context);
  // Memory that lives until the list is reset or destroyed (setBytes).
  void* allocate(size_t size, size_t alignment);
  // Kept until the list is reset or destroyed.
  void retain(std::shared_ptr<const void> object);

  // ---- Notice ----
  // Called in the queue's order, on a notification thread or in a thread that waits for the list;
  // register before commit.
  void on_scheduled(std::function<void()> handler);
  void on_completed(std::function<void(const ListResult& result)> handler);

  // ---- After commit ----
  ListState state() const { return state_.load(std::memory_order_acquire); }
  // Good once state is Completed or Failed.
  const ListResult& result() const { return result_; }
  // Blocks until the list has been scheduled (its turn came), or completed.
  void wait_scheduled();
  // Blocks until the list has run and its completion handlers have returned. This thread may run
  // kernels meanwhile. Not to be called from a handler of the same list.
  void wait_completed();
  // Blocks until the list has run; its completion handlers may still be called. What a handler of
  // another list may call.
  void wait_executed();

  // Forgets the steps and handlers, keeps the memory. Does nothing between enqueue and completion;
  // waits for completion handlers, so it is not to be called from one.
  void reset();

private:
  friend class ListExecution;
  friend class QueueOrder;
  explicit CommandList(Executor& executor);

  Executor& executor_;
  std::atomic<ListState> state_{ListState::Recording};
  ListResult result_;
  std::unique_ptr<ListExecution> execution_;
};

} // namespace bessemer::metal::cpu
