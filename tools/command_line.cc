#include "tools/command_line.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

struct Command {
  const char* name;
  const char* help;
  std::function<CommandResult()> (*add)(CLI::App&);
};

constexpr Command kCommands[] = {
    {"run", "Call functions of a compiled module", addRunCommand},
    {"bench", "Measure a function of a compiled module", addBenchCommand},
    {"check", "Run the tests that a compiled module exports", addCheckCommand},
    {"compile", "Compile a model for Metal with iree-compile", addCompileCommand},
    {"inspect", "Show what a compiled module, a Metal library or a kernel holds",
     addInspectCommand},
    {"devices", "List the devices that programs can run on", addDevicesCommand},
    {"completion", "Print a shell's completion script", addCompletionCommand},
    {"manual", "Print a manual page: bessemer manual run | man -l -", addManualCommand},
};

Result<void> expand(std::vector<std::string> arguments, int depth, std::vector<std::string>& out) {
  constexpr int kDeepest = 8;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string path;
    if (arguments[i] == "--flagfile") {
      if (i + 1 == arguments.size())
        return fail(StatusCode::InvalidArgument, "--flagfile wants a file after it");
      path = arguments[++i];
    } else if (arguments[i].starts_with("--flagfile=")) {
      path = arguments[i].substr(11);
    } else {
      out.push_back(std::move(arguments[i]));
      continue;
    }
    if (depth == kDeepest)
      return fail(StatusCode::InvalidArgument, "--flagfile=", path,
                  ": flag files name each other too deeply");
    std::ifstream stream(path);
    if (!stream)
      return fail(StatusCode::NotFound, "--flagfile=", path, ": cannot open the file");
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
      const size_t begin = line.find_first_not_of(" \t\r");
      if (begin == line.npos || line[begin] == '#')
        continue;
      lines.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
    }
    BESSEMER_RETURN_IF_ERROR(expand(std::move(lines), depth + 1, out));
  }
  return {};
}

} // namespace

Result<std::vector<std::string>> expandFlagFiles(std::vector<std::string> arguments) {
  std::vector<std::string> expanded;
  BESSEMER_RETURN_IF_ERROR(expand(std::move(arguments), 0, expanded));
  return expanded;
}

CommandLine::CommandLine() : app_("Runs Metal compute programs anywhere.", "bessemer") {
  app_.require_subcommand(1);
  app_.set_version_flag("--version", BESSEMER_VERSION);
  app_.add_option("--flagfile", "Read more flags from a file, one a line");
  for (const Command& command : kCommands) {
    CLI::App* sub = app_.add_subcommand(command.name, command.help);
    sub->callback([this, action = command.add(*sub)] { chosen_ = action; });
  }
}

namespace {

// Flags of IREE's tools that mean nothing here, and what to do instead: the longest prefix counts.
struct ForeignFlag {
  const char* prefix;
  const char* advice;
};
constexpr ForeignFlag kForeignFlags[] = {
    {"--cuda_", "there is no CUDA driver here"},
    {"--hip_", "there is no HIP driver here"},
    {"--vulkan_", "there is no Vulkan driver here"},
    {"--task_", "the Metal driver's threads are set by BESSEMER_THREADS"},
    {"--dump_task_topologies", "the Metal driver's threads are set by BESSEMER_THREADS"},
    {"--executable_plugin", "there are no executable plugins"},
    {"--device_allocator", "the driver's own allocator is used"},
    {"--device_lead_allocator", "the driver's own allocator is used"},
    {"--device_profiling", "use `run --trace=FILE` or `bench --dispatch_statistics`"},
    {"--device_capture", "use `run --trace=FILE`"},
    {"--device_replay", "replays are not taken"},
    {"--instrument_file", "modules with instrumentation are not taken"},
    {"--enable_output_processing", "use `run --output`"},
};

Result<void> refuseForeignFlags(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    for (const ForeignFlag& flag : kForeignFlags)
      if (argument.starts_with(flag.prefix))
        return fail(StatusCode::InvalidArgument, argument.substr(0, argument.find('=')),
                    " is not taken: ", flag.advice);
  return {};
}

} // namespace

int CommandLine::run(std::vector<std::string> arguments) {
  auto failure = [](const vm::Error& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "bessemer: %s\n", error.toString().c_str());
    return 1;
  };
  auto expanded = expandFlagFiles(std::move(arguments));
  if (!expanded)
    return failure(expanded.error());
  const std::string first = expanded->empty() ? "" : expanded->front();
  if (!first.empty() && !first.starts_with("-") &&
      std::ranges::none_of(kCommands,
                           [&](const Command& command) { return command.name == first; })) {
    std::string names;
    for (const Command& command : kCommands)
      names += vm::concat(names.empty() ? "" : ", ", command.name);
    return failure(vm::Error(StatusCode::NotFound,
                             vm::concat("there is no command '", first, "'; there are ", names)));
  }
  if (auto known = refuseForeignFlags(*expanded); !known)
    return failure(known.error());
  try {
    // CLI11 takes them from the last to the first.
    app_.parse(std::vector<std::string>(expanded->rbegin(), expanded->rend()));
  } catch (const CLI::Success& asked) { // for help or the version
    app_.exit(asked);
    return 0;
  } catch (const CLI::ParseError& error) {
    std::string command = "bessemer";
    for (const CLI::App* sub : app_.get_subcommands())
      command += " " + sub->get_name();
    return failure(vm::Error(StatusCode::InvalidArgument,
                             vm::concat(error.what(), "; `", command, " --help` tells more")));
  }
  CommandResult result = chosen_();
  std::fflush(stdout);
  return result ? *result : failure(result.error());
}

} // namespace bessemer::tools
