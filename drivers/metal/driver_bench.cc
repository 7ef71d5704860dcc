// What the driver costs: submissions with nothing to do, round trips, dispatches on replay, chains.
// Times are the process's CPU time where a name says so, else those that a clock on the wall shows.
#include <vector>

#include "drivers/metal/dispatch_test.h"
#include <benchmark/benchmark.h>

namespace bessemer::metal_driver {
namespace {

class Bench : public DispatchTest {
public:
  Bench() { SetUp(); }
  ~Bench() override { TearDown(); }
  void TestBody() override {}

  static Bench& Shared() {
    static Bench bench;
    return bench;
  }

  using DispatchTest::Count;
  using DispatchTest::device_;
  using DispatchTest::executable_;
  using DispatchTest::Find;
  using DispatchTest::kAny;
  using DispatchTest::NewBuffer;
  using DispatchTest::NewCommandBuffer;
  using DispatchTest::Ref;

  HalPtr<iree_hal_command_buffer_t> NewEmptyCommandBuffer() {
    auto commands = NewCommandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT);
    IREE_CHECK_OK(iree_hal_command_buffer_end(commands.get()));
    return commands;
  }

  /// Dispatches of a kernel that does nothing.
  HalPtr<iree_hal_command_buffer_t> NewDispatches(int64_t count, bool with_barriers) {
    auto commands = NewCommandBuffer();
    for (int64_t i = 0; i < count; ++i) {
      IREE_CHECK_OK(
          Dispatch(commands, "_abs", iree_hal_make_static_dispatch_config(1, 1, 1), {}, {}));
      if (with_barriers) {
        IREE_CHECK_OK(iree_hal_command_buffer_execution_barrier(
            commands.get(), IREE_HAL_EXECUTION_STAGE_DISPATCH, IREE_HAL_EXECUTION_STAGE_DISPATCH,
            IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, nullptr, 0, nullptr));
      }
    }
    IREE_CHECK_OK(iree_hal_command_buffer_end(commands.get()));
    IREE_CHECK_OK(ExecuteAndWait(commands)); // compiles
    return commands;
  }
};

/// One timeline, each submission behind the one before.
class Timeline {
public:
  explicit Timeline(iree_hal_device_t* device) {
    IREE_CHECK_OK(iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                            IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore_));
  }
  ~Timeline() { iree_hal_semaphore_release(semaphore_); }
  Timeline(const Timeline&) = delete;

  iree_hal_semaphore_list_t waits() { return {value_ ? 1u : 0u, &semaphore_, &value_}; }
  iree_hal_semaphore_list_t signals() {
    next_ = value_ + 1;
    return {1, &semaphore_, &next_};
  }
  void Advance() { ++value_; }
  void Wait(iree_async_wait_flags_t flags = IREE_ASYNC_WAIT_FLAG_NONE) {
    IREE_CHECK_OK(iree_hal_semaphore_wait(semaphore_, value_, iree_infinite_timeout(), flags));
  }

private:
  iree_hal_semaphore_t* semaphore_ = nullptr;
  uint64_t value_ = 0, next_ = 0;
};

void Execute(Timeline& timeline, iree_hal_command_buffer_t* commands, bool is_chained) {
  IREE_CHECK_OK(iree_hal_device_queue_execute(
      Bench::Shared().device_, Bench::kAny,
      is_chained ? timeline.waits() : iree_hal_semaphore_list_empty(), timeline.signals(), commands,
      iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
  timeline.Advance();
}

/// Recorded, submitted and completed, 64 at a time; for each.
void empty_command_buffer_cpu(benchmark::State& state) {
  Bench& bench = Bench::Shared();
  Timeline timeline(bench.device_);
  constexpr int kInFlight = 64;
  for (auto _ : state) {
    for (int i = 0; i < kInFlight; ++i)
      Execute(timeline, bench.NewEmptyCommandBuffer().get(), /*is_chained=*/true);
    timeline.Wait();
  }
  state.SetItemsProcessed(state.iterations() * kInFlight);
}
BENCHMARK(empty_command_buffer_cpu)->MeasureProcessCPUTime();

void empty_command_buffer_waited(benchmark::State& state) {
  Bench& bench = Bench::Shared();
  Timeline timeline(bench.device_);
  for (auto _ : state) {
    Execute(timeline, bench.NewEmptyCommandBuffer().get(), /*is_chained=*/true);
    timeline.Wait();
  }
}
BENCHMARK(empty_command_buffer_waited)->UseRealTime();

/// There and back through the device; 1: the waiting thread spins.
void dispatch_waited(benchmark::State& state) {
  Bench& bench = Bench::Shared();
  Timeline timeline(bench.device_);
  auto commands = bench.NewDispatches(1, false);
  iree_async_wait_flags_t flags =
      state.range(0) ? IREE_ASYNC_WAIT_FLAG_ACTIVE : IREE_ASYNC_WAIT_FLAG_NONE;
  for (auto _ : state) {
    Execute(timeline, commands.get(), /*is_chained=*/true);
    timeline.Wait(flags);
  }
}
BENCHMARK(dispatch_waited)->Arg(0)->Arg(1)->UseRealTime();

void fill_waited(benchmark::State& state) {
  Bench& bench = Bench::Shared();
  Timeline timeline(bench.device_);
  auto buffer = bench.NewBuffer(64);
  iree_async_wait_flags_t flags =
      state.range(0) ? IREE_ASYNC_WAIT_FLAG_ACTIVE : IREE_ASYNC_WAIT_FLAG_NONE;
  for (auto _ : state) {
    uint8_t byte = 1;
    IREE_CHECK_OK(iree_hal_device_queue_fill(bench.device_, Bench::kAny, timeline.waits(),
                                             timeline.signals(), buffer.get(), 0, 64, &byte, 1,
                                             IREE_HAL_FILL_FLAG_NONE));
    timeline.Advance();
    timeline.Wait(flags);
  }
}
BENCHMARK(fill_waited)->Arg(0)->Arg(1)->UseRealTime();

/// A recorded command buffer once more: for each of its dispatches, running them included.
void replayed_dispatch_cpu(benchmark::State& state) {
  Bench& bench = Bench::Shared();
  Timeline timeline(bench.device_);
  auto commands = bench.NewDispatches(state.range(0), true);
  for (auto _ : state) {
    Execute(timeline, commands.get(), /*is_chained=*/true);
    timeline.Wait();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(replayed_dispatch_cpu)->Arg(1000)->MeasureProcessCPUTime();

/// Submissions of a dispatch each, for each: every one behind the one before, or all independent.
void submissions(benchmark::State& state, bool are_chained) {
  Bench& bench = Bench::Shared();
  Timeline timeline(bench.device_);
  auto commands = bench.NewDispatches(1, false);
  constexpr int kLength = 64;
  for (auto _ : state) {
    for (int i = 0; i < kLength; ++i)
      Execute(timeline, commands.get(), are_chained);
    timeline.Wait();
  }
  state.SetItemsProcessed(state.iterations() * kLength);
}
BENCHMARK_CAPTURE(submissions, chained, true)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(submissions, independent, false)->UseRealTime()->MeasureProcessCPUTime();

/// What a compiled program does for each call: memory, work, memory back.
void alloca_execute_dealloca(benchmark::State& state) {
  Bench& bench = Bench::Shared();
  Timeline timeline(bench.device_);
  auto commands = bench.NewDispatches(1, false);
  for (auto _ : state) {
    iree_hal_buffer_t* buffer = nullptr;
    IREE_CHECK_OK(iree_hal_device_queue_alloca(bench.device_, Bench::kAny, timeline.waits(),
                                               timeline.signals(), nullptr, {}, state.range(0),
                                               IREE_HAL_ALLOCA_FLAG_NONE, &buffer));
    timeline.Advance();
    Execute(timeline, commands.get(), /*is_chained=*/true);
    IREE_CHECK_OK(iree_hal_device_queue_dealloca(bench.device_, Bench::kAny, timeline.waits(),
                                                 timeline.signals(), buffer,
                                                 IREE_HAL_DEALLOCA_FLAG_NONE));
    timeline.Advance();
    timeline.Wait();
    iree_hal_buffer_release(buffer);
  }
}
BENCHMARK(alloca_execute_dealloca)->Arg(4096)->Arg(1 << 20)->Arg(64 << 20)->UseRealTime();

} // namespace
} // namespace bessemer::metal_driver

BENCHMARK_MAIN();
