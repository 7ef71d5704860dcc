// `bessemer`: runs compiled programs and shows what they and this machine are.
#include <cstdio>
#include <functional>

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace {

using bessemer::tools::CommandResult;

struct Command {
  const char* name;
  const char* help;
  std::function<CommandResult()> (*add)(CLI::App&);
};

constexpr Command kCommands[] = {
    {"run", "Call a function of a compiled module", bessemer::tools::addRunCommand},
    {"inspect", "Show what a compiled module, a Metal library or a kernel holds",
     bessemer::tools::addInspectCommand},
    {"devices", "List the devices that programs can run on", bessemer::tools::addDevicesCommand},
};

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs Metal compute programs anywhere.", "bessemer");
  app.require_subcommand(1);
  app.set_version_flag("--version", BESSEMER_VERSION);
  std::function<CommandResult()> chosen;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    sub->callback([&chosen, action = command.add(*sub)] { chosen = action; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 numbers its errors; scripts want 0 for help and 1 for everything wrong.
    return app.exit(error) == 0 ? 0 : 1;
  }
  CommandResult result = chosen();
  std::fflush(stdout);
  if (!result) {
    std::fprintf(stderr, "bessemer: %s\n", result.error().toString().c_str());
    return 1;
  }
  return *result;
}
