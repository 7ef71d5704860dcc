#include <optional>

#include <benchmark/benchmark.h>

#include "tools/calls.h"
#include "tools/command.h"
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
  const CLI::App* app = nullptr;
};

// Hands the --benchmark_... flags to Google Benchmark, which ends the process for those it does not
// understand.
Result<void> initializeBenchmark(std::vector<std::string> arguments) {
  for (const std::string& argument : arguments)
    if (!argument.starts_with("--benchmark_") && !argument.starts_with("--v="))
      return fail(StatusCode::InvalidArgument, "unknown flag '", argument,
                  "'; `bessemer bench --help` lists them");
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
  std::optional<vm::Error> error;
  const std::string name = vm::concat("BM_", function.name());
  benchmark::RegisterBenchmark(name.c_str(),
                               [&](benchmark::State& state) {
                                 int64_t calls = 0;
                                 while (state.KeepRunningBatch(flags.batch_size)) {
                                   auto results = session.call(function, inputs);
                                   if (!results) {
                                     error = std::move(results.error());
                                     state.SkipWithError(error->message().c_str());
                                     break;
                                   }
                                   ++calls;
                                 }
                                 state.SetItemsProcessed(calls * flags.batch_size);
                               })
      ->MeasureProcessCPUTime()
      ->UseRealTime();
  const size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (error)
    return std::unexpected(std::move(*error));
  if (ran == 0)
    return fail(StatusCode::NotFound, "no benchmark matches --benchmark_filter; there is ", name);
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
  app.allow_extras();
  app.footer("Google Benchmark's flags are taken as they are: --benchmark_repetitions=N, "
             "--benchmark_min_time=SECONDS, --benchmark_time_unit=ns|us|ms|s, "
             "--benchmark_format=console|json|csv, "
             "--benchmark_out=FILE, --benchmark_counters_tabular=true, ...");
  return [flags] { return bench(*flags); };
}

} // namespace bessemer::tools
