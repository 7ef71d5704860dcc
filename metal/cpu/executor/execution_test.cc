// Command lists on queues: order, stages, grids, waiting, failures.
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/executor.h"
#include "metal/cpu/executor/pipeline.h"
#include "metal/cpu/executor/queue.h"
#include "metal/cpu/executor/testing/fake_compiler.h"
#include "metal/cpu/executor/timeline.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::Eq;
using ::testing::HasSubstr;
using testing::make_pipeline;

class ExecutionTest : public ::testing::Test {
protected:
  Executor executor{{.threads = 2, .watchdog_milliseconds = 0}};
  std::shared_ptr<Queue> queue = Queue::create(executor);

  std::shared_ptr<CommandList> list() { return CommandList::create(executor); }

  template <typename T>
  static Binding bind(std::vector<T>& values, size_t first = 0) {
    return {values.data() + first, (values.size() - first) * sizeof(T)};
  }

  // A dispatch of `kernel` over `grid`.
  static void record(CommandList& list, const std::shared_ptr<Pipeline>& pipeline,
                     std::vector<Binding> buffers, Size3 grid, Size3 group,
                     std::vector<uint32_t> threadgroup_lengths = {}) {
    list.dispatch({.pipeline = pipeline,
                   .buffers = buffers,
                   .threadgroup_lengths = threadgroup_lengths,
                   .threads_per_grid = grid,
                   .threads_per_threadgroup = group});
  }

  ListResult run(const std::shared_ptr<CommandList>& list) {
    queue->commit(list);
    list->wait_completed();
    return list->result();
  }
};

TEST_F(ExecutionTest, GridsOfEverySizeVisitEachThreadOnce) {
  auto pipeline = make_pipeline("count_visits");
  const std::pair<Size3, Size3> cases[] = {
      {{64, 1, 1}, {32, 1, 1}},   {{100, 1, 1}, {32, 1, 1}},      {{7, 1, 1}, {32, 1, 1}},
      {{17, 9, 5}, {4, 4, 2}},    {{16, 8, 4}, {4, 4, 2}},        {{16, 9, 4}, {4, 4, 2}},
      {{3, 9, 5}, {4, 4, 2}},     {{1, 1, 1}, {1, 1, 1}},         {{1000, 37, 3}, {8, 8, 1}},
      {{5, 1000, 2}, {1, 32, 1}}, {{200'003, 1, 1}, {256, 1, 1}},
  };
  for (const auto& [grid, group] : cases) {
    std::vector<uint32_t> counts(grid.volume());
    auto list = this->list();
    record(*list, pipeline, {bind(counts)}, grid, group);
    list->barrier();
    record(*list, pipeline, {bind(counts)}, grid, group);
    EXPECT_TRUE(run(list).ok()) << list->result().message;
    EXPECT_THAT(counts, Each(Eq(2u))) << grid.x << " " << grid.y << " " << grid.z;
  }
}

TEST_F(ExecutionTest, ComputesTheSameAsALoop) {
  auto pipeline = make_pipeline("saxpy");
  std::vector<float> x(10'000), y(10'000), expected(10'000), a = {2.5f};
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 1.0f / static_cast<float>(i + 1);
    expected[i] = std::fma(0.0f, 0.0f, y[i] + 2.5f * x[i]);
  }
  auto list = this->list();
  record(*list, pipeline, {bind(x), bind(y), bind(a)}, {10'000, 1, 1}, {128, 1, 1});
  ASSERT_TRUE(run(list).ok());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_FLOAT_EQ(y[i], expected[i]) << i;
}

TEST_F(ExecutionTest, OnlyChangedBindingsNeedToBeNamed) {
  auto pipeline = make_pipeline("count_visits");
  std::vector<uint32_t> first(32), second(32), third(32);
  auto list = this->list();
  const auto dispatch = [&](std::vector<uint32_t>& counts, uint32_t changed, Size3 grid) {
    const Binding bindings[] = {bind(counts)};
    list->dispatch({.pipeline = pipeline,
                    .buffers = bindings,
                    .threadgroup_lengths = {},
                    .threads_per_grid = grid,
                    .threads_per_threadgroup = {32, 1, 1},
                    .changed = changed});
    list->barrier();
  };
  const Size3 some = {32, 1, 1}, none = {0, 1, 1};
  for (int run = 0; run < 2; ++run) {
    dispatch(first, ~uint32_t{0}, some);
    dispatch(first, 0, some);
    dispatch(second, 1, none); // bound all the same
    dispatch(second, 0, some);
    // What is recorded on the way comes between.
    struct Context {
      std::shared_ptr<Pipeline> pipeline;
      Binding binding;
    } context{pipeline, bind(third)};
    list->expand(
        [](CommandList& list, void* context) {
          const auto& [pipeline, binding] = *static_cast<Context*>(context);
          list.dispatch({.pipeline = pipeline,
                         .buffers = {&binding, 1},
                         .threadgroup_lengths = {},
                         .threads_per_grid = {32, 1, 1},
                         .threads_per_threadgroup = {32, 1, 1}});
        },
        &context);
    dispatch(second, 0, some);
    EXPECT_TRUE(this->run(list).ok()) << list->result().message;
    list->reset();
  }
  EXPECT_THAT(first, Each(Eq(4u)));
  EXPECT_THAT(second, Each(Eq(4u)));
  EXPECT_THAT(third, Each(Eq(2u)));
}

TEST_F(ExecutionTest, ThreadgroupMemoryAndFramesHaveTheirPlaces) {
  auto pipeline = make_pipeline("group_sum");
  EXPECT_EQ(pipeline->threadgroup_bytes(), 64u);
  std::vector<uint32_t> values(64 * 500), sums(500), expected(500);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<uint32_t>(i * 2654435761u);
    expected[i / 64] += values[i] + 1;
  }
  auto list = this->list();
  record(*list, pipeline, {bind(values), bind(sums)}, {64 * 500, 1, 1}, {64, 1, 1}, {256, 0, 256});
  ASSERT_TRUE(run(list).ok());
  EXPECT_EQ(sums, expected);
}

TEST_F(ExecutionTest, IndirectGridIsReadWhenItsTurnComes) {
  auto pipeline = make_pipeline("count_visits");
  std::vector<uint32_t> counts(6 * 4 * 2), groups = {9, 9, 9}, real = {3, 2, 1};
  auto list = this->list();
  list->copy(groups.data(), real.data(), 12);
  list->barrier();
  std::vector<Binding> buffers = {bind(counts)};
  list->dispatch_indirect({.pipeline = pipeline,
                           .buffers = buffers,
                           .threadgroup_lengths = {},
                           .threads_per_grid = {},
                           .threads_per_threadgroup = {2, 2, 2}},
                          groups.data());
  ASSERT_TRUE(run(list).ok());
  EXPECT_THAT(counts, Each(Eq(1u)));
}

TEST_F(ExecutionTest, TooLargeIndirectGridFails) {
  auto pipeline = make_pipeline("count_visits");
  std::vector<uint32_t> groups = {0xffffffff, 1, 1};
  auto list = this->list();
  list->dispatch_indirect({.pipeline = pipeline,
                           .buffers = {},
                           .threadgroup_lengths = {},
                           .threads_per_grid = {},
                           .threads_per_threadgroup = {2, 1, 1}},
                          groups.data());
  EXPECT_EQ(run(list).code, ListErrorCode::InvalidDispatch);
}

TEST_F(ExecutionTest, FillsAndCopiesOfEveryLengthAreExact) {
  for (size_t length : {1u, 3u, 63u, 64u, 1000u, 65'536u, 1'048'576u, 3'000'001u})
    for (size_t offset : {0u, 1u, 7u}) {
      std::vector<uint8_t> target(length + 64, 0xee), copied(length + 64, 0xdd);
      const std::vector<uint8_t> pattern = {1, 2, 3, 4};
      auto list = this->list();
      list->fill(target.data() + offset, length, pattern);
      list->barrier();
      list->copy(copied.data() + offset + 1, target.data() + offset, length);
      ASSERT_TRUE(run(list).ok());
      for (size_t i = 0; i < target.size(); ++i) {
        const bool inside = i >= offset && i < offset + length;
        ASSERT_EQ(target[i], inside ? pattern[(i - offset) % 4] : 0xee) << length << " " << i;
        const bool copied_inside = i >= offset + 1 && i < offset + 1 + length;
        ASSERT_EQ(copied[i], copied_inside ? pattern[(i - offset - 1) % 4] : 0xdd) << length;
      }
    }
}

TEST_F(ExecutionTest, OverlappingCopyMovesWhatWasThere) {
  std::vector<uint32_t> values(1'000'000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint32_t>(i);
  auto list = this->list();
  list->copy(values.data() + 5, values.data(), (values.size() - 5) * 4);
  ASSERT_TRUE(run(list).ok());
  for (size_t i = 5; i < values.size(); ++i)
    ASSERT_EQ(values[i], i - 5);
}

TEST_F(ExecutionTest, ListsRunInTheOrderOfEnqueueNotOfCommit) {
  auto pipeline = make_pipeline("mix");
  std::vector<uint32_t> value(1), numbers(50);
  std::vector<std::shared_ptr<CommandList>> lists;
  uint32_t expected = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<uint32_t>(i + 1);
    expected = expected * 3 + numbers[i];
    lists.push_back(list());
    record(*lists[i], pipeline, {bind(value), bind(numbers, i)}, {1, 1, 1}, {1, 1, 1});
    queue->enqueue(lists[i]);
    EXPECT_EQ(lists[i]->state(), ListState::Enqueued);
  }
  for (size_t i = numbers.size(); i-- > 0;)
    queue->commit(lists[i]);
  for (auto& list : lists)
    list->wait_completed();
  EXPECT_EQ(value[0], expected);
}

TEST_F(ExecutionTest, CancelledListHoldsUpNobody) {
  std::vector<uint8_t> byte(1);
  auto never = list(), after = list();
  queue->enqueue(never);
  after->fill(byte.data(), 1, uint8_t{7});
  queue->commit(after);
  EXPECT_EQ(after->state(), ListState::Committed);
  queue->cancel(never);
  after->wait_completed();
  EXPECT_EQ(byte[0], 7);
}

TEST_F(ExecutionTest, QueueThatWaitsHoldsUpNoOtherQueue) {
  auto other = Queue::create(executor);
  auto timeline = Timeline::create(executor);
  std::vector<uint32_t> value(1);
  auto waits = list(), signals = list();
  waits->wait(timeline, 5);
  waits->fill(value.data(), 4, uint8_t{1});
  signals->fill(value.data(), 4, uint8_t{2});
  signals->signal(timeline, 5);
  queue->commit(waits);
  std::this_thread::sleep_for(5ms);
  EXPECT_NE(waits->state(), ListState::Completed);
  other->commit(signals);
  waits->wait_completed();
  EXPECT_EQ(value[0], 0x01010101u);
  EXPECT_EQ(timeline->value(), 5u);
}

TEST_F(ExecutionTest, HostSignalsAndWaitsOnTimelines) {
  auto to_device = Timeline::create(executor, 3), to_host = Timeline::create(executor);
  auto list = this->list();
  list->wait(to_device, 4);
  list->signal(to_host, 1);
  queue->commit(list);
  EXPECT_FALSE(to_host->wait_for(1, 2ms));
  to_device->signal(2); // lower: nothing
  EXPECT_EQ(to_device->value(), 3u);
  to_device->signal(9);
  to_host->wait(1);
  EXPECT_TRUE(to_host->wait_for(1, 0ms));
  list->wait_completed();
}

TEST_F(ExecutionTest, ThreadThatHelpsWhileItWaitsForATimelineLeavesWhenItIsReached) {
  // Behind the signal comes a kernel that ends only when this thread has gone on.
  Executor busy({.threads = 1, .watchdog_milliseconds = 0});
  auto queue = Queue::create(busy);
  auto pipeline = make_pipeline("spin_on_memory");
  for (int round = 0; round < 50; ++round) {
    auto timeline = Timeline::create(busy);
    std::vector<uint32_t> flag(1);
    auto list = CommandList::create(busy);
    list->signal(timeline, 1);
    record(*list, pipeline, {bind(flag)}, {1, 1, 1}, {1, 1, 1});
    queue->commit(list);
    timeline->wait(1);
    __atomic_store_n(flag.data(), 1, __ATOMIC_RELEASE);
    list->wait_completed();
  }
}

TEST_F(ExecutionTest, TimelineListenersAreCalledOnceEach) {
  auto timeline = Timeline::create(executor);
  std::atomic<int> calls{0};
  std::atomic<uint64_t> seen{0};
  timeline->notify(2, [&](uint64_t value) { seen = value, ++calls; });
  timeline->signal(1);
  timeline->signal(7);
  while (calls == 0)
    std::this_thread::yield();
  EXPECT_EQ(seen, 7u);
  timeline->notify(3, [&](uint64_t) { ++calls; }); // reached already
  while (calls == 1)
    std::this_thread::yield();
  EXPECT_EQ(calls, 2);
  timeline->notify(100, [&](uint64_t) { ++calls; }); // never; must not leak
}

TEST_F(ExecutionTest, CompletionHandlersRunBeforeWaitReturnsAndNotOnAWorker) {
  std::atomic<bool> scheduled{false}, completed{false};
  auto list = this->list();
  list->on_scheduled([&] { scheduled = true; });
  list->on_completed([&](const ListResult& result) {
    EXPECT_TRUE(scheduled);
    EXPECT_TRUE(result.ok());
    EXPECT_GT(result.start_nanoseconds, 0);
    EXPECT_GE(result.end_nanoseconds, result.start_nanoseconds);
    EXPECT_FALSE(executor.on_worker());
    std::this_thread::sleep_for(5ms);
    completed = true;
  });
  queue->commit(list);
  list->wait_completed();
  EXPECT_TRUE(completed);
}

TEST_F(ExecutionTest, HandlerThatTheWaitingThreadCallsAtOnceEndsTheList) {
  // The handler may have returned before the thread that completes the list is through with it:
  // more threads than processors make that likely.
  constexpr int kThreads = 6, kRounds = 50'000;
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&] {
      auto queue = Queue::create(executor);
      auto list = this->list();
      for (int i = 0; i < kRounds; ++i) {
        list->on_completed([&](const ListResult&) { ++calls; });
        queue->commit(list);
        list->wait_completed();
        list->reset();
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(calls, kThreads * kRounds);
}

TEST_F(ExecutionTest, ThreadThatAlwaysWaitedNeedNotWait) {
  // Its lists are left to it for a moment, not for ever, whatever the workers do meanwhile.
  for (const auto pause : {0ms, 0ms, 1ms, 10ms}) {
    for (int i = 0; i < 50; ++i)
      EXPECT_TRUE(run(list()).ok());
    std::this_thread::sleep_for(pause);
    auto last = list();
    queue->commit(last);
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (last->state() != ListState::Completed && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    ASSERT_EQ(last->state(), ListState::Completed);
  }
}

TEST_F(ExecutionTest, HandlersOfAQueueAreCalledInItsOrderAndOneAtATime) {
  std::vector<int> calls; // not locked: ThreadSanitizer would tell
  std::vector<std::shared_ptr<CommandList>> lists;
  for (int i = 0; i < 300; ++i) {
    lists.push_back(list());
    lists[i]->on_completed([&calls, i](const ListResult&) { calls.push_back(i); });
    queue->commit(lists[i]);
    if (i % 7 == 0)
      lists[i]->wait_completed();
  }
  lists.back()->wait_completed();
  ASSERT_EQ(calls.size(), 300u);
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(calls[i], i);
}

TEST_F(ExecutionTest, HandlerThatBlocksHoldsUpNoOtherQueue) {
  auto other = Queue::create(executor);
  auto blocked = list();
  std::atomic<bool> may_go{false}, gone{false};
  blocked->on_completed([&](const ListResult&) {
    while (!may_go)
      std::this_thread::yield();
    gone = true;
  });
  queue->commit(blocked);
  for (int i = 0; i < 10; ++i) {
    auto list = this->list();
    bool called = false;
    list->on_completed([&](const ListResult&) { called = true; });
    other->commit(list);
    list->wait_completed();
    EXPECT_TRUE(called);
  }
  EXPECT_FALSE(gone);
  may_go = true;
  blocked->wait_completed();
  EXPECT_TRUE(gone);
}

TEST_F(ExecutionTest, SubnormalsFollowTheKernelAndTheThreadKeepsItsOwnMode) {
  std::vector<float> kept(1, -1), flushed(1, -1), subnormal = {1e-40f};
  auto list = this->list();
  record(*list, make_pipeline("subnormal_kept"), {bind(kept), bind(subnormal)}, {1, 1, 1},
         {1, 1, 1});
  record(*list, make_pipeline("subnormal_flushed"), {bind(flushed), bind(subnormal)}, {1, 1, 1},
         {1, 1, 1});
  list->host_function(
      [](void* context) {
        volatile float tiny = 1e-40f;
        *static_cast<float*>(context) += tiny * 1.0f > 0 ? 100 : 0;
      },
      &flushed[0]);
  ASSERT_TRUE(run(list).ok());
  EXPECT_EQ(kept[0], 1e-40f);
  EXPECT_EQ(flushed[0], 100);
}

TEST_F(ExecutionTest, ListResetsAndRunsAgain) {
  auto pipeline = make_pipeline("count_visits");
  std::vector<uint32_t> counts(100);
  auto list = this->list();
  for (int i = 0; i < 3; ++i) {
    list->reset();
    record(*list, pipeline, {bind(counts)}, {100, 1, 1}, {32, 1, 1});
    ASSERT_TRUE(run(list).ok());
  }
  EXPECT_THAT(counts, Each(Eq(3u)));
}

// ---- Compiling ----

TEST_F(ExecutionTest, ListThatNeedsCodeIsParkedAndOtherQueuesGoOn) {
  auto pipeline = make_pipeline("count_visits");
  auto other = Queue::create(executor);
  std::vector<uint32_t> counts(64), other_counts(3);
  testing::close_compile_gate();
  auto parked = list();
  record(*parked, pipeline, {bind(counts)}, {64, 1, 1}, {16, 1, 1});
  const uint32_t before = testing::kernels_compiled;
  record(*parked, pipeline, {bind(counts)}, {64, 1, 1}, {16, 1, 1});
  queue->commit(parked);
  for (int i = 0; i < 3; ++i) {
    auto list = this->list();
    list->fill(&other_counts[i], 4, uint8_t{1});
    other->commit(list);
    list->wait_completed();
  }
  EXPECT_EQ(parked->state(), ListState::Scheduled);
  testing::open_compile_gate();
  parked->wait_completed();
  EXPECT_LE(testing::kernels_compiled, before + 1); // one variant, compiled once
  EXPECT_THAT(counts, Each(Eq(2u)));
}

TEST_F(ExecutionTest, VariantThatCannotBeCompiledFailsTheListOnly) {
  auto pipeline = make_pipeline("uncompilable");
  std::vector<uint8_t> byte(1);
  auto bad = list(), good = list();
  record(*bad, pipeline, {}, {32, 1, 1}, {32, 1, 1});
  good->fill(byte.data(), 1, uint8_t{9});
  queue->commit(bad);
  queue->commit(good);
  good->wait_completed();
  EXPECT_EQ(bad->state(), ListState::Failed);
  EXPECT_EQ(bad->result().code, ListErrorCode::Compile);
  EXPECT_THAT(bad->result().message,
              HasSubstr("'uncompilable' for 32x1x1 threads: not for this size"));
  EXPECT_EQ(byte[0], 9);
}

TEST_F(ExecutionTest, OverlappingBuffersGetTheirOwnVariant) {
  auto pipeline = make_pipeline("saxpy");
  std::vector<float> values(64), other(64), a(1);
  const Binding x = bind(values), y = bind(other), scale = bind(a);
  EXPECT_TRUE(pipeline->buffers_are_distinct(std::vector{x, y, scale}));
  EXPECT_TRUE(pipeline->buffers_are_distinct(std::vector{x, y, x})); // both only read
  EXPECT_FALSE(pipeline->buffers_are_distinct(std::vector{x, x, scale}));
  EXPECT_FALSE(pipeline->buffers_are_distinct(std::vector{x, y, bind(other, 63)}));
  EXPECT_TRUE(pipeline->buffers_are_distinct(std::vector{x, Binding{}, scale}));
  Variant* distinct = pipeline->prepare({8, 1, 1}, true);
  EXPECT_NE(distinct, pipeline->prepare({8, 1, 1}, false));
  EXPECT_EQ(distinct, pipeline->prepare({8, 1, 1}, true));
}

TEST_F(ExecutionTest, CodeIsMadeForTheSizesThatRunAndForNoOther) {
  const uint32_t compiled = testing::kernels_compiled, summarised = testing::kernels_summarised;
  auto pipeline = make_pipeline("count_visits");
  EXPECT_EQ(testing::kernels_summarised, summarised + 1);
  EXPECT_EQ(testing::kernels_compiled, compiled);
  EXPECT_EQ(pipeline->used_buffers(), 1u);
  std::vector<uint32_t> counts(64);
  auto list = this->list();
  record(*list, pipeline, {bind(counts)}, {64, 1, 1}, {16, 1, 1});
  ASSERT_TRUE(run(list).ok());
  EXPECT_EQ(testing::kernels_summarised, summarised + 1);
  EXPECT_EQ(testing::kernels_compiled, compiled + 1);
  EXPECT_THAT(counts, Each(Eq(1u)));
}

TEST(PipelineTest, ErrorsNameTheFunction) {
  auto library = testing::uncached_service().compile_source("empty", {});
  ASSERT_TRUE(library);
  auto pipeline = Pipeline::create(testing::uncached_service(),
                                   {.library = *library, .function = "missing", .constants = {}});
  ASSERT_FALSE(pipeline);
  EXPECT_EQ(pipeline.error().message, "the library has no function 'missing'");
}

TEST_F(ExecutionTest, CodeThatCallsWhatItMayNotIsNotLoaded) {
  auto list = this->list();
  record(*list, make_pipeline("calls_foreign"), {}, {32, 1, 1}, {32, 1, 1});
  queue->commit(list);
  list->wait_completed();
  EXPECT_EQ(list->state(), ListState::Failed);
  EXPECT_THAT(list->result().message,
              AllOf(HasSubstr("'calls_foreign' for 32x1x1 threads"),
                    HasSubstr("a call to 'not_allowed', which kernels may not call")));
}

// ---- Failures ----

TEST_F(ExecutionTest, BadDispatchesFailWithOneLine) {
  auto pipeline = make_pipeline("empty");
  const Size3 groups[] = {{0, 1, 1}, {1025, 1, 1}, {32, 32, 2}, {0x80000000, 0x80000000, 4}};
  for (Size3 group : groups) {
    auto list = this->list();
    record(*list, pipeline, {}, {64, 1, 1}, group);
    EXPECT_EQ(run(list).code, ListErrorCode::InvalidDispatch);
    EXPECT_THAT(list->result().message, HasSubstr("'empty'"));
  }
  auto list = this->list();
  list->fill(list.get(), 8, std::vector<uint8_t>{1, 2, 3});
  EXPECT_EQ(run(list).code, ListErrorCode::InvalidDispatch);
}

struct FaultCase {
  const char* kernel;
  ListErrorCode code;
  const char* text;
};

class FaultTest : public ExecutionTest, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(FaultTest, FaultEndsTheListAndNothingElse) {
  const FaultCase& fault = GetParam();
  std::vector<uint64_t> address = {0x10}; // what wild_store writes to
  std::vector<uint32_t> after(1), signalled(1);
  auto timeline = Timeline::create(executor);
  for (int round = 0; round < 3; ++round) {
    auto bad = list(), good = list();
    record(*bad, make_pipeline(fault.kernel), {bind(address)}, {4096, 1, 1}, {32, 1, 1});
    bad->barrier();
    bad->fill(after.data(), 4, uint8_t{1});
    bad->signal(timeline, static_cast<uint64_t>(round) + 1);
    queue->commit(bad);
    good->fill(signalled.data(), 4, static_cast<uint8_t>(round + 1));
    queue->commit(good);
    good->wait_completed();
    EXPECT_EQ(bad->state(), ListState::Failed);
    EXPECT_EQ(bad->result().code, fault.code) << bad->result().message;
    EXPECT_THAT(bad->result().message, HasSubstr(fault.text));
    EXPECT_THAT(bad->result().message, HasSubstr(fault.kernel));
    EXPECT_EQ(after[0], 0u); // the steps behind the fault did not run
    EXPECT_EQ(timeline->value(), static_cast<uint64_t>(round) + 1); // but nobody waits for ever
    EXPECT_TRUE(good->result().ok());
    EXPECT_EQ(signalled[0] & 0xff, static_cast<uint32_t>(round + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, FaultTest,
    ::testing::Values(FaultCase{"wild_store", ListErrorCode::PageFault, "at address 0x10"},
                      FaultCase{"divide_by_zero", ListErrorCode::ArithmeticFault, "SIGFPE"},
                      FaultCase{"illegal_instruction", ListErrorCode::ArithmeticFault, "SIGILL"},
                      FaultCase{"stack_overflow", ListErrorCode::PageFault, "SIGSEGV"}),
    [](const auto& info) { return std::string(info.param.kernel); });

TEST_F(ExecutionTest, CopyFromMemoryThatIsNotThereFailsTheList) {
  std::vector<uint8_t> target(16);
  auto list = this->list();
  list->copy(target.data(), reinterpret_cast<const void*>(uintptr_t{64}), 16);
  EXPECT_EQ(run(list).code, ListErrorCode::PageFault);
  EXPECT_THAT(list->result().message, HasSubstr("copy: "));
}

TEST_F(ExecutionTest, KernelThatSpinsOnMemorySeesWhatTheHostWrites) {
  std::vector<uint32_t> flag(1), value(1);
  auto spins = list();
  record(*spins, make_pipeline("spin_on_memory"), {bind(flag)}, {4, 1, 1}, {1, 1, 1});
  queue->commit(spins);
  // A wait for another queue must not be drawn into the kernel that spins.
  auto other = Queue::create(executor);
  for (int i = 0; i < 20; ++i) {
    auto list = this->list();
    list->fill(value.data(), 4, uint8_t{1});
    other->commit(list);
    list->wait_completed();
  }
  EXPECT_NE(spins->state(), ListState::Completed);
  __atomic_store_n(flag.data(), 1, __ATOMIC_RELEASE);
  spins->wait_completed();
  EXPECT_TRUE(spins->result().ok());
}

#if !defined(__has_feature) || !__has_feature(thread_sanitizer)
// ThreadSanitizer holds signals back until the thread makes a system call.
TEST(WatchdogTest, EndlessKernelEndsAsATimeout) {
  Executor executor({.threads = 2, .watchdog_milliseconds = 20});
  auto queue = Queue::create(executor);
  auto pipeline = make_pipeline("endless");
  for (int round = 0; round < 2; ++round) {
    auto list = CommandList::create(executor);
    list->dispatch({.pipeline = pipeline,
                    .buffers = {},
                    .threadgroup_lengths = {},
                    .threads_per_grid = {64, 1, 1},
                    .threads_per_threadgroup = {1, 1, 1}});
    queue->commit(list);
    list->wait_completed();
    EXPECT_EQ(list->result().code, ListErrorCode::Timeout);
    EXPECT_THAT(list->result().message, HasSubstr("'endless'"));
  }
}
#endif

// Signals that are not the kernels' go to whoever had them. Each case is a process of its own, as
// handlers are the process's.
class ForeignSignalTest : public ExecutionTest {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Our handlers are in place once a kernel has run.
  void run_a_kernel() {
    std::vector<uint64_t> address = {0x10};
    auto list = this->list();
    record(*list, make_pipeline("wild_store"), {bind(address)}, {1, 1, 1}, {1, 1, 1});
    EXPECT_EQ(run(list).code, ListErrorCode::PageFault);
  }
};

TEST_F(ForeignSignalTest, EarlierHandlerGetsFaultsOfOtherCode) {
  EXPECT_EXIT(
      {
        struct sigaction action = {};
        action.sa_flags = SA_SIGINFO;
        action.sa_sigaction = [](int, siginfo_t* info, void*) {
          _exit(info->si_addr == reinterpret_cast<void*>(0x30) ? 42 : 43);
        };
        sigaction(SIGSEGV, &action, nullptr);
        run_a_kernel();
        *reinterpret_cast<volatile int*>(uintptr_t{0x30}) = 1;
      },
      ::testing::ExitedWithCode(42), "");
}

TEST_F(ForeignSignalTest, EarlierHandlerGetsSignalsThatWereSent) {
  EXPECT_EXIT(
      {
        std::signal(SIGFPE, [](int) { _exit(44); });
        run_a_kernel();
        raise(SIGFPE);
      },
      ::testing::ExitedWithCode(44), "");
}

#if !defined(__has_feature) ||                                                                     \
    (!__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer))
TEST_F(ForeignSignalTest, WithoutAHandlerTheProcessEndsAsEver) {
  EXPECT_EXIT(
      {
        run_a_kernel();
        *reinterpret_cast<volatile int*>(uintptr_t{0x30}) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        run_a_kernel();
        raise(SIGBUS);
      },
      ::testing::KilledBySignal(SIGBUS), "");
}
#endif

// ---- Many at once ----

TEST_F(ExecutionTest, ManyQueuesWithEventsBetweenThemAgreeWithALoop) {
  // Each queue adds to its own value and passes a baton to the next; odd rounds also run a large
  // shared grid. Wait before signal is the rule, as all lists are committed in reverse.
  constexpr size_t kQueues = 8, kRounds = 40;
  auto mix = make_pipeline("mix");
  auto visits = make_pipeline("count_visits");
  std::vector<std::shared_ptr<Queue>> queues;
  std::vector<std::shared_ptr<Timeline>> batons;
  for (size_t i = 0; i < kQueues; ++i) {
    queues.push_back(Queue::create(executor));
    batons.push_back(Timeline::create(executor));
  }
  std::vector<uint32_t> value(1), numbers(kQueues * kRounds), grid(50'000);
  std::atomic<uint32_t> handlers{0};
  std::vector<std::shared_ptr<CommandList>> lists(kQueues * kRounds);
  uint32_t expected = 0, host_count = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    const size_t round = i / kQueues, position = i % kQueues;
    numbers[i] = static_cast<uint32_t>(i);
    expected = expected * 3 + numbers[i];
    lists[i] = list();
    if (position > 0)
      lists[i]->wait(batons[position - 1], round + 1);
    else
      lists[i]->wait(batons[kQueues - 1], round);
    record(*lists[i], mix, {bind(value), bind(numbers, i)}, {1, 1, 1}, {1, 1, 1});
    if (i % 16 == 1) {
      lists[i]->barrier();
      record(*lists[i], visits, {bind(grid)}, {50'000, 1, 1}, {32, 1, 1});
    }
    // Code that ThreadSanitizer sees, unlike kernels: it checks the order too.
    lists[i]->host_function([](void* count) { ++*static_cast<uint32_t*>(count); }, &host_count);
    lists[i]->signal(batons[position], round + 1);
    lists[i]->on_completed([&](const ListResult& result) { handlers += result.ok(); });
  }
  std::vector<std::thread> committers;
  for (size_t position = 0; position < kQueues; ++position)
    committers.emplace_back([&, position] {
      for (size_t round = 0; round < kRounds; ++round)
        queues[position]->enqueue(lists[round * kQueues + position]);
      for (size_t round = kRounds; round-- > 0;)
        queues[position]->commit(lists[round * kQueues + position]);
      for (size_t round = 0; round < kRounds; ++round)
        lists[round * kQueues + position]->wait_completed();
    });
  for (std::thread& thread : committers)
    thread.join();
  EXPECT_EQ(value[0], expected);
  EXPECT_EQ(handlers, lists.size());
  EXPECT_EQ(host_count, lists.size());
  EXPECT_THAT(grid, Each(Eq(static_cast<uint32_t>(lists.size() / 16))));
}

TEST_F(ExecutionTest, ManyClientThreadsShareAQueue) {
  auto pipeline = make_pipeline("slow");
  constexpr int kThreads = 4, kLists = 100;
  std::vector<std::vector<uint32_t>> counts(kThreads, std::vector<uint32_t>(200));
  std::vector<std::thread> clients;
  for (int t = 0; t < kThreads; ++t)
    clients.emplace_back([&, t] {
      for (int i = 0; i < kLists; ++i) {
        auto list = this->list();
        record(*list, pipeline, {bind(counts[t])}, {200, 1, 1}, {1, 1, 1});
        queue->commit(list);
        if (i % 3 == 0)
          list->wait_completed();
      }
      auto last = this->list();
      queue->commit(last);
      last->wait_completed();
    });
  for (std::thread& client : clients)
    client.join();
  for (const auto& each : counts)
    EXPECT_THAT(each, Each(Eq(static_cast<uint32_t>(kLists))));
}

} // namespace
} // namespace bessemer::metal::cpu
