#include <chrono>
#include <cstdio>

#include "modules/session.h"
#include "tools/command.h"
#include "tools/devices.h"
#include "tools/inputs.h"
#include "tools/outputs.h"
#include "tools/programs.h"

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

struct RunFlags {
  ProgramFlags program;
  std::string function;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> expected;
  size_t max_elements = 1024;
  Tolerance tolerance;
  std::string equality = "approximate";
};

CommandResult run(RunFlags& flags) {
  flags.tolerance.exact = flags.equality == "exact";
  BESSEMER_ASSIGN_OR_RETURN(Program program, Program::open(flags.program));
  modules::Session& session = program.session();
  BESSEMER_ASSIGN_OR_RETURN(vm::Function function, session.function(flags.function));

  std::span<const vm::Signature::Item> arguments = function.signature().arguments;
  if (function.usesFences())
    arguments = arguments.first(arguments.size() - 2);
  InputReader reader(session.device());
  BESSEMER_ASSIGN_OR_RETURN(auto inputs, reader.read(flags.inputs, arguments));

  std::printf("EXEC @%.*s\n", static_cast<int>(function.name().size()), function.name().data());
  std::fflush(stdout);
  BESSEMER_ASSIGN_OR_RETURN(auto results, session.call(function, inputs));

  if (!flags.expected.empty()) {
    BESSEMER_ASSIGN_OR_RETURN(auto differences, compareResults(session.device(), results,
                                                               flags.expected, flags.tolerance));
    for (const std::string& difference : differences)
      std::printf("[FAILED] %s\n", difference.c_str());
    if (differences.empty())
      std::printf("[SUCCESS] all function outputs matched their expected values.\n");
    if (!flags.outputs.empty()) {
      OutputWriter writer(session.device(), flags.max_elements);
      BESSEMER_RETURN_IF_ERROR(writer.write(flags.outputs, results));
    }
    return differences.empty() ? 0 : 1;
  }
  if (!flags.outputs.empty()) {
    OutputWriter writer(session.device(), flags.max_elements);
    BESSEMER_RETURN_IF_ERROR(writer.write(flags.outputs, results));
  } else {
    BESSEMER_RETURN_IF_ERROR(printResults(stdout, session.device(), results, flags.max_elements));
  }
  return 0;
}

} // namespace

std::function<CommandResult()> addRunCommand(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  flags->program.addTo(app);
  auto texts = [&](const char* name, std::vector<std::string>& into, const char* help) {
    return app.add_option(name, into, help)->allow_extra_args(false);
  };
  app.add_option("--function", flags->function,
                 "Function to call; may be left out when the module has only one");
  texts("--input", flags->inputs,
        "An argument, in order: 42, 2x3xf32=1,2,3,4,5,6, 4xf32=@bytes.bin, @x.npy (+x.npy the next "
        "array of the file, *x.npy the rest), (null)");
  texts("--output", flags->outputs,
        "Where a result goes, in order: @y.npy, @y.bin, + instead of @ to append, - to print, "
        "empty to drop");
  texts("--expected_output", flags->expected,
        "What a result must be, in order, as --input takes it; (ignored) skips one");
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
  return [flags] { return run(*flags); };
}

} // namespace bessemer::tools
