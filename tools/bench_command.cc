#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <map>
#include <optional>
#include <thread>

#include <benchmark/benchmark.h>

#include "tools/calls.h"
#include "tools/command.h"
#include "tools/device_timeline.h"
#include "tools/inputs.h"
#include "tools/programs.h"
#include "tools/progress.h"

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

struct BenchFlags {
  ProgramFlags program;
  CallFlags call;
  int64_t batch_size = 1;
  int64_t batch_concurrency = 1;
  bool statistics = false;
  bool dispatch_statistics = false;
  const CLI::App* app = nullptr;
};

// Hands the --benchmark_... flags to Google Benchmark, which ends the process for those it does not
// understand.
Result<void> initializeBenchmark(std::vector<std::string> arguments) {
  for (const std::string& argument : arguments)
    if (!argument.starts_with("--benchmark_") && !argument.starts_with("--v="))
      return fail(StatusCode::InvalidArgument, "unknown flag '", argument,
                  "'; `bessemer bench --help` lists them");
  // Newer versions of Google Benchmark want "2s", older ones "2": both are taken.
  for (std::string& argument : arguments)
    if (argument.starts_with("--benchmark_min_time=") && argument.ends_with('s'))
      argument.pop_back();
  // Google Benchmark keeps the program's name for its report.
  static std::string name = "bessemer";
  std::vector<char*> argv = {name.data()};
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  benchmark::SetDefaultTimeUnit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1)
    return fail(StatusCode::InvalidArgument, "Google Benchmark has no flag '", argv[1], "'");
  return {};
}

// Makes a call several times at once, by threads that stay.
class Callers {
public:
  using CallOnce = std::function<Result<void>()>;

  Callers(int64_t count, CallOnce call)
      : call_(std::move(call)), begin_(count + 1), end_(count + 1) {
    for (int64_t i = 0; i < count; ++i)
      threads_.emplace_back([this] { work(); });
  }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;
  ~Callers() {
    stop_ = true;
    begin_.arrive_and_wait();
  }
  // Each thread calls once; the first error of them.
  Result<void> callAll() {
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
    std::lock_guard lock(mutex_);
    if (error_)
      return std::unexpected(*std::exchange(error_, {}));
    return {};
  }

private:
  void work() {
    for (;;) {
      begin_.arrive_and_wait();
      if (stop_)
        return;
      if (auto called = call_(); !called) {
        std::lock_guard lock(mutex_);
        if (!error_)
          error_ = std::move(called.error());
      }
      end_.arrive_and_wait();
    }
  }

  CallOnce call_;
  std::barrier<> begin_, end_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::optional<vm::Error> error_;
  std::vector<std::jthread> threads_; // ends before what it uses
};

// Where a call's time on the device goes: a line for each kernel, the longest first.
Result<void> printDispatches(iree_hal_device_t* device, const Callers::CallOnce& call) {
  constexpr int kCalls = 10;
  if (!device)
    return fail(StatusCode::FailedPrecondition, "--dispatch_statistics wants a device");
  BESSEMER_ASSIGN_OR_RETURN(auto timeline, DeviceTimeline::begin(device));
  for (int i = 0; i < kCalls; ++i)
    BESSEMER_RETURN_IF_ERROR(call());
  BESSEMER_ASSIGN_OR_RETURN(const auto spans, timeline->end());
  struct Kernel {
    std::string name;
    size_t count = 0;
    double nanoseconds = 0;
  };
  std::map<std::string, Kernel> by_name;
  double total = 0;
  for (const DeviceSpan& span : spans) {
    if (span.kind != DeviceSpan::Kind::Dispatch)
      continue;
    Kernel& kernel = by_name[span.name];
    kernel.name = span.name;
    ++kernel.count;
    kernel.nanoseconds += static_cast<double>(span.end - span.begin);
    total += static_cast<double>(span.end - span.begin);
  }
  std::vector<Kernel> kernels;
  for (auto& [name, kernel] : by_name)
    kernels.push_back(std::move(kernel));
  std::ranges::sort(kernels, std::greater(), &Kernel::nanoseconds);
  std::fprintf(stderr, "%10s %7s %12s %6s  kernel\n", "dispatches", "share", "us a call", "us");
  for (const Kernel& kernel : kernels)
    std::fprintf(
        stderr, "%10.1f %6.1f%% %12.2f %6.2f  %s\n", static_cast<double>(kernel.count) / kCalls,
        total > 0 ? 100 * kernel.nanoseconds / total : 0.0, kernel.nanoseconds / kCalls / 1000,
        kernel.nanoseconds / static_cast<double>(kernel.count) / 1000, kernel.name.c_str());
  std::fprintf(stderr, "%10s %7s %12.2f\n", "all", "", total / kCalls / 1000);
  return {};
}

CommandResult bench(BenchFlags& flags) {
  BESSEMER_RETURN_IF_ERROR(initializeBenchmark(flags.app->remaining()));
  BESSEMER_ASSIGN_OR_RETURN(Program program, Program::open(flags.program));
  modules::Session& session = program.session();
  const Call call = flags.call.calls()[0];
  BESSEMER_ASSIGN_OR_RETURN(vm::Function function, session.function(call.function));
  std::span<const vm::Signature::Item> arguments = function.signature().arguments;
  if (function.usesFences())
    arguments = arguments.first(arguments.size() - 2);
  InputReader reader(session.device());
  BESSEMER_ASSIGN_OR_RETURN(auto inputs, reader.read(call.inputs, arguments));
  {
    // Kernels are compiled and memory is allocated in the first call.
    Progress progress("warming up");
    BESSEMER_RETURN_IF_ERROR(session.call(function, inputs));
  }
  auto call_once = [&]() -> Result<void> {
    auto results = session.call(function, inputs);
    if (!results)
      return vm::propagate(std::move(results));
    return {};
  };
  std::optional<vm::Error> error;
  std::optional<Callers> callers;
  if (flags.batch_concurrency > 1)
    callers.emplace(flags.batch_concurrency, call_once);
  const std::string name = vm::concat("BM_", function.name());
  benchmark::RegisterBenchmark(name.c_str(),
                               [&](benchmark::State& state) {
                                 int64_t calls = 0;
                                 const int64_t batch = flags.batch_size * flags.batch_concurrency;
                                 while (state.KeepRunningBatch(batch)) {
                                   auto called = callers ? callers->callAll() : call_once();
                                   if (!called) {
                                     error = std::move(called.error());
                                     state.SkipWithError(error->message().c_str());
                                     break;
                                   }
                                   ++calls;
                                 }
                                 state.SetItemsProcessed(calls * batch);
                               })
      ->MeasureProcessCPUTime()
      ->UseRealTime();
  const size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (error)
    return std::unexpected(std::move(*error));
  if (ran == 0)
    return fail(StatusCode::NotFound, "no benchmark matches --benchmark_filter; there is ", name);
  if (flags.dispatch_statistics)
    BESSEMER_RETURN_IF_ERROR(printDispatches(session.device(), call_once));
  if (flags.statistics)
    printAllocatorStatistics(session.device());
  return 0;
}

} // namespace

std::function<CommandResult()> addBenchCommand(CLI::App& app) {
  auto flags = std::make_shared<BenchFlags>();
  flags->app = &app;
  flags->program.addTo(app);
  flags->call.addTo(app, /*several=*/false);
  app.add_option("--batch_size", flags->batch_size,
                 "Items that one call counts as: times are divided by it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch_concurrency", flags->batch_concurrency,
                 "Calls that are made at once, by as many threads; for programs without state. "
                 "Times are divided by it")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  app.add_flag("--dispatch_statistics", flags->dispatch_statistics,
               "Print where a call's time on the device goes, kernel by kernel, on stderr");
  app.add_flag("--print_statistics,--print_device_statistics", flags->statistics,
               "Print the memory that the device used on stderr");
  app.allow_extras();
  app.footer("Google Benchmark's flags are taken as they are: --benchmark_repetitions=N, "
             "--benchmark_min_time=SECONDS, --benchmark_time_unit=ns|us|ms|s, "
             "--benchmark_format=console|json|csv, "
             "--benchmark_out=FILE, --benchmark_counters_tabular=true, ...");
  return [flags] { return bench(*flags); };
}

} // namespace bessemer::tools
