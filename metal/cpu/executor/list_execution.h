// The run of one command list: a state machine that one thread at a time carries on. It stops where
// it would have to wait (other threads still in the stage, a timeline, a compile), and whoever ends
// that wait makes it go on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "metal/cpu/executor/arena.h"
#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/kernel_thread.h"
#include "metal/cpu/executor/step.h"
#include "metal/cpu/executor/timeline.h"
#include "metal/cpu/executor/variant.h"
#include "metal/cpu/executor/worker_pool.h"

namespace bessemer::metal::cpu {

class NotificationLane;
class QueueOrder;

class ListExecution {
public:
  ListExecution(Executor& executor, CommandList& list);

  // ---- Recorded by CommandList ----
  Arena arena;
  Step* first_step = nullptr;
  Step* last_step = nullptr;
  uint32_t dispatch_count = 0;
  uint32_t changed = ~uint32_t{0}; // bindings since the last dispatch that was recorded
  std::vector<std::shared_ptr<const void>> retained;
  const TimelineStep* last_signal = nullptr;
  std::vector<std::function<void()>> scheduled_handlers;
  std::vector<std::function<void(const ListResult&)>> completed_handlers;

  template <typename StepType>
  StepType* append(StepKind kind) {
    StepType* step = arena.make<StepType>();
    step->kind = kind;
    (last_step ? last_step->next : first_step) = step;
    last_step = step;
    return step;
  }

  // ---- For the queue ----
  struct Place { // in the queue's order
    std::shared_ptr<QueueOrder> queue;
    std::shared_ptr<CommandList> list;
    ListExecution* next = nullptr;
    bool committed = false;
  };
  Place place;

  // Its turn will come by itself: threads that wait for what it signals may help its queue.
  void announce_signals();
  // Its turn has come: from here on it runs by itself.
  enum class Starter : uint8_t { Worker, Client, ClientThatWaits };
  void start(Starter starter);

  // Whose work it is, for threads that wait and help; where its handlers are called.
  void set_source(WorkOwner owner, std::shared_ptr<NotificationLane> lane) {
    owner_.store(owner, std::memory_order_relaxed);
    lane_ = std::move(lane);
  }

  // ---- For waiting threads ----
  enum Progress : uint32_t { NotStarted, Scheduled, Executed, HandlersReturned };
  void wait_for(Progress progress);

  void reset();

private:
  enum class Next : uint8_t { Continue, Stop };

  // Threadgroups of one region with one variant, for any number of threads.
  struct KernelRun {
    Variant* variant = nullptr;
    uint32_t number = 0; // of the dispatch, for messages
    uint64_t threadgroup_bytes = 0;
    uint64_t frame_bytes = 0;
    const bessemer_dispatch_t* dispatch = nullptr;
  };

  // A piece of a stage that several threads share.
  struct Part : Job {
    ListExecution* execution = nullptr;
    const Step* step = nullptr; // of a fill or copy
    KernelRun kernel;           // of a dispatch
    bessemer_dispatch_t dispatch;
    std::atomic<bool> in_use{false};
  };

  void run();
  Next run_dispatch(const DispatchStep& step);
  void bind(const DispatchStep& step);
  void run_region(const DispatchStep& step, Size3 grid, Variant& variant, const Region& region);
  bool run_threadgroups(const KernelRun& kernel, uint64_t first, uint64_t last);
  void share_kernel(Part& part, const KernelRun& kernel, uint64_t total, uint64_t first);
  void run_transfer(const Step& step, uint64_t length, bool in_one_piece);
  bool run_transfer_bytes(const Step& step, uint64_t first, uint64_t last);
  void share(Part& part, uint64_t total, uint64_t first);
  Next drain();
  Next park(Variant& variant);
  Next wait(const TimelineStep& step);
  void fail(ListErrorCode code, std::string message);
  void complete();
  void advance(Progress progress);
  Part* free_part();

  static void run_task(Task* task);
  static bool run_kernel_chunk(Job* job, uint64_t first, uint64_t last);
  static bool run_transfer_chunk(Job* job, uint64_t first, uint64_t last);
  static void part_finished(Job* job);

  struct ExecutionTask : Task {
    ListExecution* execution;
  } task_;
  struct TimelineWaiter : Timeline::Waiter {
    ListExecution* execution;
  } timeline_waiter_;
  struct VariantWaiter : Variant::Waiter {
    ListExecution* execution;
  } variant_waiter_;

  Executor& executor_;
  WorkerPool& workers_;
  CommandList& list_;
  std::atomic<WorkOwner> owner_{kNoOwner};
  std::shared_ptr<NotificationLane> lane_; // may be read once the list has been executed
  Step* position_ = nullptr;
  bessemer_dispatch_t dispatch_ = {}; // the last one that was run
  // Threads and parts that keep the stage open: one for whoever carries the list on, one for each
  // shared part. Who takes the last one away goes on behind the barrier.
  std::atomic<uint32_t> open_{1};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::atomic<uint32_t> progress_{NotStarted};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> handler_callers_{0}; // awake threads that would call handlers themselves
  std::array<Part, 8> parts_;
};

} // namespace bessemer::metal::cpu
