#include "metal/cpu/executor/list_execution.h"

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <iterator>

#include "metal/cpu/executor/commit_habit.h"
#include "metal/cpu/executor/executor.h"
#include "metal/cpu/executor/futex.h"
#include "metal/cpu/executor/notifier.h"
#include "metal/cpu/executor/pipeline.h"
#include "metal/cpu/executor/queue_order.h"

namespace bessemer::metal::cpu {

// Work that is left is shared when it takes longer than the hand-over: to a thread that spins some
// microseconds, to one that sleeps a futex round trip.
static constexpr float kShareWithAwake = 6'000;
static constexpr float kShareWithSleeping = 40'000;
// Chunks shorter than this would be spent on taking them, longer ones keep a thread from noticing
// other work.
static constexpr float kSmallestChunk = 4'000;
static constexpr float kLargestChunk = 1'000'000;
// A dispatch this short is not worth reading the clock each time.
static constexpr float kNotMeasured = 1'000;

static constexpr uint64_t kTransferPiece = 64 * 1024;
static constexpr uint64_t kSharedTransfer = 1024 * 1024;

ListExecution::ListExecution(Executor& executor, CommandList& list)
    : executor_(executor), workers_(executor.workers()), list_(list) {
  task_.run = &ListExecution::run_task;
  task_.execution = this;
  timeline_waiter_.execution = this;
  timeline_waiter_.reached = [](Timeline::Waiter* self) {
    ListExecution* execution = static_cast<TimelineWaiter*>(self)->execution;
    execution->workers_.submit(&execution->task_);
  };
  variant_waiter_.execution = this;
  variant_waiter_.compiled = [](Variant::Waiter* self) {
    ListExecution* execution = static_cast<VariantWaiter*>(self)->execution;
    execution->workers_.submit(&execution->task_);
  };
  for (Part& part : parts_) {
    part.execution = this;
    part.finished = &ListExecution::part_finished;
  }
}

void ListExecution::reset() {
  arena.reset();
  first_step = last_step = nullptr;
  last_signal = nullptr;
  dispatch_count = 0;
  changed = ~uint32_t{0};
  retained.clear();
  scheduled_handlers.clear();
  completed_handlers.clear();
  position_ = nullptr;
  failed_.store(false, std::memory_order_relaxed);
  progress_.store(NotStarted, std::memory_order_relaxed);
}

// ---- From start to completion ----

void ListExecution::announce_signals() {
  if (last_signal)
    last_signal->timeline->expect(last_signal->value, owner_.load(std::memory_order_relaxed));
}

void ListExecution::start(Starter starter) {
  position_ = first_step;
  task_.owner = owner_.load(std::memory_order_relaxed);
  for (Part& part : parts_)
    part.owner = task_.owner;
  list_.state_.store(ListState::Scheduled, std::memory_order_release);
  for (std::function<void()>& handler : scheduled_handlers)
    executor_.notifier().post(lane_, std::move(handler));
  scheduled_handlers.clear();
  advance(Scheduled);
  switch (starter) {
  case Starter::Worker:
    return workers_.submit_next(&task_);
  case Starter::Client:
    return workers_.submit(&task_);
  case Starter::ClientThatWaits:
    return workers_.submit_to_helper(&task_);
  }
}

void ListExecution::run_task(Task* task) { static_cast<ExecutionTask*>(task)->execution->run(); }

void ListExecution::run() {
  if (list_.result_.start_nanoseconds == 0)
    list_.result_.start_nanoseconds = now_nanoseconds();
  // A step that stops the list stays the position where it has to be looked at again.
  while (Step* step = position_) {
    const bool failed = failed_.load(std::memory_order_relaxed);
    switch (step->kind) {
    case StepKind::Dispatch:
      if (!failed && run_dispatch(*static_cast<DispatchStep*>(step)) == Next::Stop)
        return;
      break;
    case StepKind::Fill:
      if (!failed)
        run_transfer(*step, static_cast<FillStep*>(step)->length, /*in_one_piece=*/false);
      break;
    case StepKind::Copy:
      if (!failed) {
        const auto& copy = *static_cast<CopyStep*>(step);
        const bool overlaps =
            copy.target < copy.source + copy.length && copy.source < copy.target + copy.length;
        run_transfer(copy, copy.length, /*in_one_piece=*/overlaps);
      }
      break;
    case StepKind::Barrier:
      if (drain() == Next::Stop)
        return;
      break;
    case StepKind::Wait: {
      if (drain() == Next::Stop)
        return;
      position_ = step->next;
      if (!failed_.load(std::memory_order_relaxed) &&
          wait(*static_cast<TimelineStep*>(step)) == Next::Stop)
        return;
      continue;
    }
    case StepKind::Signal: {
      if (drain() == Next::Stop)
        return;
      auto& signal = *static_cast<TimelineStep*>(step);
      signal.timeline->signal(signal.value);
      position_ = step->next;
      if (Timeline::wait_of_this_thread_is_over()) {
        // This thread only helped, and has its own work again.
        workers_.submit(&task_);
        return;
      }
      continue;
    }
    case StepKind::Host: {
      if (drain() == Next::Stop)
        return;
      auto& host = *static_cast<HostStep*>(step);
      if (!failed_.load(std::memory_order_relaxed))
        host.function(host.context);
      break;
    }
    case StepKind::Expand: {
      if (drain() == Next::Stop)
        return;
      if (!failed_.load(std::memory_order_relaxed)) {
        // What is recorded now goes between this step and the next.
        auto& expand = *static_cast<ExpandStep*>(step);
        Step* const next = std::exchange(step->next, nullptr);
        Step* const last = std::exchange(last_step, step);
        expand.record(list_, expand.context);
        last_step->next = next;
        if (next)
          last_step = last;
      }
      break;
    }
    case StepKind::Invalid:
      fail(ListErrorCode::InvalidDispatch, static_cast<InvalidStep*>(step)->message);
      break;
    }
    position_ = step->next;
  }
  if (drain() == Next::Stop)
    return;
  complete();
}

ListExecution::Next ListExecution::drain() {
  if (open_.load(std::memory_order_acquire) == 1)
    return Next::Continue;
  if (open_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return Next::Stop; // whoever ends the last part goes on; nothing here is ours from now on
  open_.store(1, std::memory_order_relaxed);
  return Next::Continue;
}

void ListExecution::part_finished(Job* job) {
  Part& part = *static_cast<Part*>(job);
  ListExecution& execution = *part.execution;
  part.in_use.store(false, std::memory_order_release);
  if (execution.open_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  execution.open_.store(1, std::memory_order_relaxed);
  execution.run();
}

ListExecution::Next ListExecution::wait(const TimelineStep& step) {
  timeline_waiter_.value = step.value;
  return step.timeline->add_waiter(&timeline_waiter_) ? Next::Stop : Next::Continue;
}

ListExecution::Next ListExecution::park(Variant& variant) {
  return variant.add_waiter(&variant_waiter_) ? Next::Stop : Next::Continue;
}

static ListErrorCode error_code(const KernelFault& fault) {
  switch (fault.signal) {
  case 0:
    return ListErrorCode::Timeout;
  case SIGSEGV:
  case SIGBUS:
    return ListErrorCode::PageFault;
  default:
    return ListErrorCode::ArithmeticFault;
  }
}

void ListExecution::fail(ListErrorCode code, std::string message) {
  std::lock_guard lock(failure_mutex_);
  if (failed_.load(std::memory_order_relaxed))
    return; // the first is the cause
  list_.result_.code = code;
  list_.result_.message = std::move(message);
  failed_.store(true, std::memory_order_relaxed);
}

void ListExecution::complete() {
  // Both may go as soon as waiting threads see the end.
  const std::shared_ptr<CommandList> list = std::move(place.list);
  const std::shared_ptr<QueueOrder> queue = std::move(place.queue);
  queue->remove(*this);
  list->result_.end_nanoseconds = now_nanoseconds();
  const bool failed = failed_.load(std::memory_order_relaxed);
  list->state_.store(failed ? ListState::Failed : ListState::Completed, std::memory_order_release);
  if (completed_handlers.empty()) {
    advance(HandlersReturned);
  } else {
    advance(Executed);
    Notifier& notifier = executor_.notifier();
    notifier.post(
        lane_,
        [list, this, handlers = std::move(completed_handlers)] {
          for (const std::function<void(const ListResult&)>& handler : handlers)
            handler(list->result_);
          advance(HandlersReturned);
        },
        /*wake=*/false);
    // A thread that waits for this list calls them sooner than one that has to be woken.
    if (handler_callers_.load() == 0)
      notifier.wake();
  }
  queue->go_on();
}

// ---- Waiting ----

void ListExecution::advance(Progress progress) {
  progress_.store(progress);
  if (sleepers_.load() != 0)
    futex_wake_all(progress_);
}

void ListExecution::wait_for(Progress target) {
  const auto reached = [&] { return progress_.load() >= target; };
  const bool calls_handlers = target == HandlersReturned;
  const auto call_handler = [&] {
    return calls_handlers && progress_.load() >= Executed && executor_.notifier().run_one(lane_);
  };
  if (target > Scheduled)
    CommitHabit::wait();
  int64_t spin_end = 0;
  if (calls_handlers)
    handler_callers_.fetch_add(1);
  for (;;) {
    const uint32_t seen = workers_.announcements();
    const uint32_t progress = progress_.load();
    if (reached())
      break;
    // What the list waits for in its own queue must run anyway; this thread is free to do it.
    if ((target > Scheduled && workers_.help(owner_.load(std::memory_order_relaxed))) ||
        call_handler()) {
      spin_end = 0;
      continue;
    }
    if (workers_.may_spin()) {
      const int64_t now = now_nanoseconds();
      if (spin_end == 0)
        spin_end = now + kSpinNanoseconds;
      const auto changed = [&] {
        return progress_.load() != progress || workers_.announcements() != seen;
      };
      if (now < spin_end && spin_until(changed, spin_end - now))
        continue;
    }
    sleepers_.fetch_add(1);
    if (calls_handlers)
      handler_callers_.fetch_sub(1);
    // Handlers that were left to this thread have to be seen after it has said that it sleeps.
    if (!call_handler() && progress_.load() == progress)
      futex_wait(progress_, progress);
    if (calls_handlers)
      handler_callers_.fetch_add(1);
    sleepers_.fetch_sub(1);
  }
  if (calls_handlers)
    handler_callers_.fetch_sub(1);
}

// ---- Dispatches ----

ListExecution::Next ListExecution::run_dispatch(const DispatchStep& step) {
  for (Variant* variant : {step.whole, step.edge}) {
    if (!variant)
      continue;
    if (variant->state() == Variant::State::Compiling && park(*variant) == Next::Stop)
      return Next::Stop;
    if (variant->state() == Variant::State::Failed) {
      fail(ListErrorCode::Compile, variant->message());
      return Next::Continue;
    }
  }
  bind(step);
  if (!step.indirect) {
    const GridRegions regions = split_grid(step.grid, step.group);
    for (const Region& region : regions.span())
      run_region(step, step.grid, region.whole ? *step.whole : *step.edge, region);
    return Next::Continue;
  }
  // The counts may have been written by the stage before.
  uint32_t counts[3];
  std::memcpy(counts, step.indirect, sizeof counts);
  if (counts[0] == 0 || counts[1] == 0 || counts[2] == 0)
    return Next::Continue;
  const uint64_t x = uint64_t{counts[0]} * step.group.x;
  const uint64_t y = uint64_t{counts[1]} * step.group.y;
  const uint64_t z = uint64_t{counts[2]} * step.group.z;
  constexpr uint64_t most = 0xffffffff;
  if (x > most || y > most || z > most) {
    fail(ListErrorCode::InvalidDispatch,
         "kernel '" + step.pipeline->name() + "': an indirect dispatch of " +
             std::to_string(counts[0]) + "x" + std::to_string(counts[1]) + "x" +
             std::to_string(counts[2]) +
             " threadgroups has more than 2^32-1 threads in a dimension");
    return Next::Continue;
  }
  const Size3 grid = {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
  run_region(step, grid, *step.whole, {{}, {counts[0], counts[1], counts[2]}, true});
  return Next::Continue;
}

static void set(uint32_t (&target)[3], Size3 size) {
  target[0] = size.x;
  target[1] = size.y;
  target[2] = size.z;
}

// May be called again for the same step.
void ListExecution::bind(const DispatchStep& step) {
  if (step.starts_anew)
    std::fill(std::begin(dispatch_.buffers), std::end(dispatch_.buffers), nullptr);
  void* const* address = step.addresses;
  for (uint32_t left = step.changed; left != 0; left &= left - 1)
    dispatch_.buffers[std::countr_zero(left)] = *address++;
  set(dispatch_.threads_per_threadgroup, step.group);
}

void ListExecution::run_region(const DispatchStep& step, Size3 grid, Variant& variant,
                               const Region& region) {
  KernelRun kernel{.variant = &variant, .number = step.number, .dispatch = &dispatch_};
  set(dispatch_.threads_per_grid, grid);
  set(dispatch_.threadgroups_per_grid, threadgroups_per_grid(grid, step.group));
  set(dispatch_.region_origin, region.origin);
  set(dispatch_.region_size, region.size);
  kernel.threadgroup_bytes = variant.threadgroup_bytes();
  if (step.dynamic_bytes != 0) {
    const uint32_t start = (variant.threadgroup_bytes() + 63) / 64 * 64;
    for (uint32_t i = 0; i < BESSEMER_MAX_BUFFERS; ++i)
      dispatch_.threadgroup_offsets[i] =
          start + (i < step.threadgroup_count ? step.threadgroup_offsets[i] : 0);
    kernel.threadgroup_bytes = uint64_t{start} + step.dynamic_bytes;
  }
  kernel.frame_bytes = variant.frame_bytes(step.group.volume());

  const uint64_t total = region.size.volume();
  const float limit = workers_.has_awake_worker() ? kShareWithAwake : kShareWithSleeping;
  const float known_cost = variant.nanoseconds_per_threadgroup();
  const float expected = known_cost * static_cast<float>(total);
  if (total > 1 && expected > limit) {
    if (Part* part = free_part())
      return share_kernel(*part, kernel, total, 0);
  }

  // Starts alone. The first threadgroups tell what the rest will take, and it is shared if that is
  // much.
  const bool measured = total > 1 || expected >= kNotMeasured || known_cost == 0;
  uint64_t chunk = known_cost == 0 ? 1 : expected < kNotMeasured ? total : (total + 3) / 4;
  const int64_t start = measured ? now_nanoseconds() : 0;
  for (uint64_t done = 0; done < total;) {
    chunk = std::min(chunk, total - done);
    if (!run_threadgroups(kernel, done, done + chunk))
      return;
    done += chunk;
    if (!measured)
      return;
    const float elapsed = static_cast<float>(now_nanoseconds() - start);
    const float cost = elapsed / static_cast<float>(done);
    if (done == total) {
      variant.add_measurement(cost);
      return;
    }
    if (cost * static_cast<float>(total - done) > limit) {
      if (Part* part = free_part()) {
        variant.add_measurement(cost);
        return share_kernel(*part, kernel, total, done);
      }
    }
    // Doubling while little is known; no chunk longer than what would have been shared.
    chunk = std::clamp<uint64_t>(static_cast<uint64_t>(limit / 2 / std::max(cost, 0.01f)), 1,
                                 chunk * 2);
  }
}

bool ListExecution::run_threadgroups(const KernelRun& kernel, uint64_t first, uint64_t last) {
  struct Call {
    const KernelRun* kernel;
    uint64_t first;
    uint64_t last;
    void* threadgroup_memory;
    void* frame;
  } call{&kernel, first, last, nullptr, nullptr};
  const Variant& variant = *kernel.variant;
  KernelThread& thread = KernelThread::current();
  if (kernel.threadgroup_bytes != 0)
    call.threadgroup_memory = thread.threadgroup_memory().reserve(kernel.threadgroup_bytes, 64);
  if (kernel.frame_bytes != 0)
    call.frame = thread.frame().reserve(kernel.frame_bytes, variant.frame_alignment());
  if ((kernel.threadgroup_bytes != 0 && !call.threadgroup_memory) ||
      (kernel.frame_bytes != 0 && !call.frame)) {
    fail(ListErrorCode::OutOfMemory, variant.describe() + ": no memory for " +
                                         std::to_string(kernel.threadgroup_bytes) +
                                         " bytes of threadgroup memory and a frame of " +
                                         std::to_string(kernel.frame_bytes) + " bytes");
    return false;
  }
  KernelFault fault;
  const bool returned = thread.run(
      // Generated code has no type in front of it, as -fsanitize=function would look for.
      [](void* context) __attribute__((no_sanitize("function"))) {
        const Call& call = *static_cast<const Call*>(context);
        call.kernel->variant->entry()(call.kernel->dispatch, call.first, call.last,
                                      call.threadgroup_memory, call.frame);
      },
      &call, variant.flush_denormals(), &fault);
  if (!returned)
    fail(error_code(fault), variant.describe() + " (dispatch " + std::to_string(kernel.number) +
                                " of its command list): " + describe(fault));
  return returned;
}

ListExecution::Part* ListExecution::free_part() {
  for (Part& part : parts_)
    if (!part.in_use.load(std::memory_order_acquire))
      return &part;
  return nullptr;
}

void ListExecution::share_kernel(Part& part, const KernelRun& kernel, uint64_t total,
                                 uint64_t first) {
  // Dispatches that come next may run meanwhile.
  part.dispatch = *kernel.dispatch;
  part.kernel = kernel;
  part.kernel.dispatch = &part.dispatch;
  share(part, total, first);
}

void ListExecution::share(Part& part, uint64_t total, uint64_t first) {
  part.in_use.store(true, std::memory_order_relaxed);
  part.total = total;
  part.run = &ListExecution::run_kernel_chunk;
  const float cost = std::max(part.kernel.variant->nanoseconds_per_threadgroup(), 0.01f);
  part.smallest_chunk = std::max<uint64_t>(1, static_cast<uint64_t>(kSmallestChunk / cost));
  part.largest_chunk = std::max<uint64_t>(1, static_cast<uint64_t>(kLargestChunk / cost));
  open_.fetch_add(1, std::memory_order_relaxed);
  workers_.share(&part, first);
}

bool ListExecution::run_kernel_chunk(Job* job, uint64_t first, uint64_t last) {
  Part& part = *static_cast<Part*>(job);
  if (part.execution->failed_.load(std::memory_order_relaxed))
    return false;
  const int64_t start = now_nanoseconds();
  if (!part.execution->run_threadgroups(part.kernel, first, last))
    return false;
  part.kernel.variant->add_measurement(static_cast<float>(now_nanoseconds() - start) /
                                       static_cast<float>(last - first));
  return true;
}

// ---- Fills and copies ----

void ListExecution::run_transfer(const Step& step, uint64_t length, bool in_one_piece) {
  Part* part = !in_one_piece && length >= kSharedTransfer ? free_part() : nullptr;
  if (!part) {
    run_transfer_bytes(step, 0, length);
    return;
  }
  part->in_use.store(true, std::memory_order_relaxed);
  part->step = &step;
  part->run = &ListExecution::run_transfer_chunk;
  part->total = (length + kTransferPiece - 1) / kTransferPiece;
  part->smallest_chunk = 2;
  part->largest_chunk = 64;
  open_.fetch_add(1, std::memory_order_relaxed);
  workers_.share(part, 0);
}

bool ListExecution::run_transfer_chunk(Job* job, uint64_t first, uint64_t last) {
  Part& part = *static_cast<Part*>(job);
  if (part.execution->failed_.load(std::memory_order_relaxed))
    return false;
  const uint64_t length = part.step->kind == StepKind::Fill
                              ? static_cast<const FillStep*>(part.step)->length
                              : static_cast<const CopyStep*>(part.step)->length;
  return part.execution->run_transfer_bytes(*part.step, first * kTransferPiece,
                                            std::min(last * kTransferPiece, length));
}

static void fill_bytes(const FillStep& step, uint64_t first, uint64_t last) {
  uint8_t* target = step.target + first;
  uint64_t left = last - first;
  if (step.pattern_size == 1) {
    std::memset(target, step.pattern[0], left);
    return;
  }
  // `first` is a multiple of every pattern's size, so each block starts with the pattern's start.
  uint8_t block[64];
  for (uint32_t i = 0; i < sizeof block; i += step.pattern_size)
    std::memcpy(block + i, step.pattern, step.pattern_size);
  for (; left >= sizeof block; left -= sizeof block, target += sizeof block)
    std::memcpy(target, block, sizeof block);
  std::memcpy(target, block, left);
}

bool ListExecution::run_transfer_bytes(const Step& step, uint64_t first, uint64_t last) {
  struct Call {
    const Step* step;
    uint64_t first;
    uint64_t last;
  } call{&step, first, last};
  KernelFault fault;
  const bool returned = KernelThread::current().run(
      // Generated code has no type in front of it, as -fsanitize=function would look for.
      [](void* context) __attribute__((no_sanitize("function"))) {
        const Call& call = *static_cast<const Call*>(context);
        if (call.step->kind == StepKind::Fill) {
          fill_bytes(*static_cast<const FillStep*>(call.step), call.first, call.last);
        } else {
          const auto& copy = *static_cast<const CopyStep*>(call.step);
          std::memmove(copy.target + call.first, copy.source + call.first, call.last - call.first);
        }
      },
      &call, /*flush_denormals=*/false, &fault);
  if (!returned)
    fail(error_code(fault), (step.kind == StepKind::Fill ? "fill: " : "copy: ") + describe(fault));
  return returned;
}

} // namespace bessemer::metal::cpu
