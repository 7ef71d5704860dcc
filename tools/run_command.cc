#include <chrono>
#include <cstdio>
#include <optional>

#include "modules/session.h"
#include "tools/calls.h"
#include "tools/command.h"
#include "tools/devices.h"
#include "tools/inputs.h"
#include "tools/outputs.h"
#include "tools/programs.h"
#include "tools/progress.h"
#include "tools/results_json.h"
#include "tools/traces.h"

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

struct RunFlags {
  ProgramFlags program;
  CallFlags calls;
  size_t max_elements = 1024;
  Tolerance tolerance;
  std::string equality = "approximate";
  bool json = false;
  bool trace_execution = false;
  std::string trace;
  bool statistics = false;
  bool list_drivers = false;
  std::string list_devices;
  std::string dump_devices;
};

constexpr const char* kEveryDriver = "all";

// What one call leaves behind.
struct Outcome {
  std::string function;
  double milliseconds = 0;
  std::vector<std::string> differences;
};

Result<Outcome> runCall(const RunFlags& flags, const Call& call, modules::Session& session,
                        TimelineTracer* timeline, ResultsJson* json) {
  BESSEMER_ASSIGN_OR_RETURN(vm::Function function, session.function(call.function));
  std::span<const vm::Signature::Item> arguments = function.signature().arguments;
  if (function.usesFences())
    arguments = arguments.first(arguments.size() - 2);
  InputReader reader(session.device());
  BESSEMER_ASSIGN_OR_RETURN(auto inputs, reader.read(call.inputs, arguments));

  const std::string name(function.name());
  if (!json) {
    std::printf("EXEC @%s\n", name.c_str());
    std::fflush(stdout);
  }
  if (timeline)
    timeline->begin(name);
  const auto begin = std::chrono::steady_clock::now();
  auto called = [&] {
    Progress progress("running @" + name);
    return session.call(function, inputs);
  }();
  Outcome outcome;
  outcome.function = name;
  outcome.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (timeline)
    timeline->end();
  if (!called)
    return vm::propagate(std::move(called));
  const std::vector<vm::Value>& results = *called;

  if (json) {
    json->addCall(name, outcome.milliseconds);
    BESSEMER_RETURN_IF_ERROR(json->addResults(session.device(), results));
  }
  if (!call.expected.empty()) {
    BESSEMER_ASSIGN_OR_RETURN(outcome.differences, compareResults(session.device(), results,
                                                                  call.expected, flags.tolerance));
    if (json)
      json->addDifferences(outcome.differences);
    for (const std::string& difference : outcome.differences)
      if (!json)
        std::printf("[FAILED] %s\n", difference.c_str());
    if (outcome.differences.empty() && !json)
      std::printf("[SUCCESS] all function outputs matched their expected values.\n");
  }
  if (!call.outputs.empty()) {
    OutputWriter writer(session.device(), flags.max_elements);
    BESSEMER_RETURN_IF_ERROR(writer.write(call.outputs, results));
  } else if (call.expected.empty() && !json) {
    BESSEMER_RETURN_IF_ERROR(printResults(stdout, session.device(), results, flags.max_elements));
  }
  return outcome;
}

Result<int> runCalls(const RunFlags& flags, TimelineTracer* timeline, vm::Tracer* tracer) {
  modules::Session::Options options;
  options.tracer = tracer;
  if (timeline)
    timeline->begin("load");
  BESSEMER_ASSIGN_OR_RETURN(Program program,
                            Program::open(flags.program, std::move(options), timeline));
  if (timeline)
    timeline->end();
  std::optional<ResultsJson> json;
  if (flags.json)
    json.emplace(flags.max_elements);
  const std::vector<Call> calls = flags.calls.calls();
  bool matched = true;
  for (const Call& call : calls) {
    auto outcome = runCall(flags, call, program.session(), timeline, json ? &*json : nullptr);
    if (!outcome) {
      if (calls.size() > 1)
        return std::unexpected(
            std::move(outcome.error())
                .prefix(vm::concat("call ", &call - calls.data() + 1, " of ", calls.size())));
      return vm::propagate(std::move(outcome));
    }
    matched = matched && outcome->differences.empty();
    if (flags.statistics)
      std::fprintf(stderr, "@%s: %.3f ms\n", outcome->function.c_str(), outcome->milliseconds);
  }
  if (json)
    std::fputs(json->text().c_str(), stdout);
  if (flags.statistics)
    printAllocatorStatistics(program.session().device());
  return matched ? 0 : 1;
}

CommandResult run(RunFlags& flags) {
  if (flags.list_drivers)
    return printDrivers();
  if (!flags.list_devices.empty())
    return printDevices(flags.list_devices == kEveryDriver ? "" : flags.list_devices, false);
  if (!flags.dump_devices.empty())
    return printDevices(flags.dump_devices == kEveryDriver ? "" : flags.dump_devices, true);
  flags.tolerance.exact = flags.equality == "exact";
  TextTracer text(stderr);
  vm::Tracer* tracer = flags.trace_execution ? &text : nullptr;
  if (flags.trace.empty())
    return runCalls(flags, nullptr, tracer);
  TimelineTracer timeline(tracer);
  auto result = runCalls(flags, &timeline, &timeline);
  // A failed run's time line is wanted most.
  BESSEMER_RETURN_IF_ERROR(timeline.write(flags.trace));
  return result;
}

} // namespace

std::function<CommandResult()> addRunCommand(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  flags->program.addTo(app);
  flags->calls.addTo(app, /*several=*/true);
  app.add_option("--output_max_element_count", flags->max_elements,
                 "Most elements of a tensor to print")
      ->capture_default_str();
  Tolerance& tolerance = flags->tolerance;
  for (auto [name, value] : {std::pair("--expected_f16_threshold", &tolerance.f16),
                             std::pair("--expected_f32_threshold", &tolerance.f32),
                             std::pair("--expected_f64_threshold", &tolerance.f64),
                             std::pair("--expected_bf16_threshold", &tolerance.bf16)}) {
    app.add_option(name, *value, "Largest absolute difference from an expected value")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
  }
  app.add_option("--expected_rtol", tolerance.relative,
                 "Largest relative difference, added to the absolute one")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--equality_mode", flags->equality,
                 "approximate: within the thresholds; exact: the same bits")
      ->check(CLI::IsMember({"approximate", "exact"}))
      ->capture_default_str();
  app.add_flag("--json", flags->json, "Results as JSON on stdout");
  app.add_flag("--trace_execution", flags->trace_execution,
               "Print each operation of the program's functions on stderr");
  app.add_option(
         "--trace", flags->trace,
         "Write a time line: the program's calls, submissions to its devices' queues and each "
         "dispatch (JSON for Perfetto or chrome://tracing)")
      ->type_name("FILE");
  app.add_flag("--print_statistics,--print_device_statistics", flags->statistics,
               "Print each call's time and the memory that the device used on stderr");
  app.add_flag("--list_drivers", flags->list_drivers, "List the drivers and do nothing else");
  app.add_option("--list_devices", flags->list_devices,
                 "List the devices, or those of one driver, and do nothing else")
      ->type_name("DRIVER")
      ->expected(0, 1)
      ->default_str(kEveryDriver);
  app.add_option("--dump_devices", flags->dump_devices,
                 "Describe the devices, or those of one driver, and do nothing else")
      ->type_name("DRIVER")
      ->expected(0, 1)
      ->default_str(kEveryDriver);
  return [flags] { return run(*flags); };
}

} // namespace bessemer::tools
