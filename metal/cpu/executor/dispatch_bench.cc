// What a dispatch costs besides the kernel: recorded in one list (batched), each in a list that is
// waited for (waited), and on the way through several queues.
#include <memory>
#include <vector>

#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/executor.h"
#include "metal/cpu/executor/pipeline.h"
#include "metal/cpu/executor/queue.h"
#include "metal/cpu/executor/testing/fake_compiler.h"
#include "metal/cpu/executor/timeline.h"
#include <benchmark/benchmark.h>

namespace bessemer::metal::cpu {
namespace {

Executor& executor() { return Executor::shared(); }

void record_empty(CommandList& list, const std::shared_ptr<Pipeline>& pipeline, uint32_t groups) {
  list.dispatch({.pipeline = pipeline,
                 .buffers = {},
                 .threadgroup_lengths = {},
                 .threads_per_grid = {32 * groups, 1, 1},
                 .threads_per_threadgroup = {32, 1, 1}});
}

// Recording and running `range` dispatches with barriers between them; time for each.
void empty_dispatch_batched(benchmark::State& state) {
  const auto pipeline = testing::make_pipeline("empty");
  const auto queue = Queue::create(executor());
  const auto list = CommandList::create(executor());
  for (auto _ : state) {
    list->reset();
    for (int64_t i = 0; i < state.range(0); ++i) {
      record_empty(*list, pipeline, 1);
      list->barrier();
    }
    queue->commit(list);
    list->wait_completed();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(empty_dispatch_batched)->Arg(1000)->UseRealTime();

void empty_dispatch_waited(benchmark::State& state) {
  const auto pipeline = testing::make_pipeline("empty");
  const auto queue = Queue::create(executor());
  for (auto _ : state) {
    const auto list = CommandList::create(executor());
    record_empty(*list, pipeline, 1);
    queue->commit(list);
    list->wait_completed();
  }
}
BENCHMARK(empty_dispatch_waited)->UseRealTime();

void empty_dispatch_waited_with_handler(benchmark::State& state) {
  const auto pipeline = testing::make_pipeline("empty");
  const auto queue = Queue::create(executor());
  for (auto _ : state) {
    const auto list = CommandList::create(executor());
    record_empty(*list, pipeline, 1);
    list->on_completed([](const ListResult&) {});
    queue->commit(list);
    list->wait_completed();
  }
}
BENCHMARK(empty_dispatch_waited_with_handler)->UseRealTime();

void timeline_waited(benchmark::State& state) {
  const auto queue = Queue::create(executor());
  const auto timeline = Timeline::create(executor());
  uint64_t value = 0;
  for (auto _ : state) {
    const auto list = CommandList::create(executor());
    list->signal(timeline, ++value);
    queue->commit(list);
    timeline->wait(value);
  }
}
BENCHMARK(timeline_waited)->UseRealTime();

// Two queues that hand over to each other by a timeline.
void queue_to_queue(benchmark::State& state) {
  const auto first = Queue::create(executor()), second = Queue::create(executor());
  const auto timeline = Timeline::create(executor());
  uint64_t value = 0;
  for (auto _ : state) {
    std::vector<std::shared_ptr<CommandList>> lists;
    for (int i = 0; i < 100; ++i) {
      lists.push_back(CommandList::create(executor()));
      lists.back()->wait(timeline, value);
      lists.back()->signal(timeline, ++value);
      (i % 2 ? second : first)->commit(lists.back());
    }
    lists.back()->wait_completed();
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(queue_to_queue)->UseRealTime();

// A grid of microsecond threadgroups on all workers, waited for: how well is it shared?
void shared_grid(benchmark::State& state) {
  const auto pipeline = testing::make_pipeline("slow");
  const auto queue = Queue::create(executor());
  const uint32_t groups = static_cast<uint32_t>(state.range(0));
  std::vector<uint32_t> counts(groups);
  std::vector<Binding> buffers = {{counts.data(), counts.size() * 4}};
  for (auto _ : state) {
    const auto list = CommandList::create(executor());
    list->dispatch({.pipeline = pipeline,
                    .buffers = buffers,
                    .threadgroup_lengths = {},
                    .threads_per_grid = {groups, 1, 1},
                    .threads_per_threadgroup = {1, 1, 1}});
    queue->commit(list);
    list->wait_completed();
  }
  state.SetItemsProcessed(state.iterations() * groups);
}
BENCHMARK(shared_grid)->Arg(1)->Arg(8)->Arg(32)->Arg(128)->Arg(1024)->Arg(8192)->UseRealTime();

} // namespace
} // namespace bessemer::metal::cpu

BENCHMARK_MAIN();
