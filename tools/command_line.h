// The command line of `bessemer`: every subcommand with its flags, from one table that --help, the
// shells' completions and the manual pages are made of.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/command.h"
#include "vm/status.h"

namespace bessemer::tools {

class CommandLine {
public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Parses `arguments` (without the program's name), runs the chosen command, prints its error.
  // Returns the exit code: 0 good, 1 anything wrong.
  int run(std::vector<std::string> arguments);

  CLI::App& app() { return app_; }

private:
  CLI::App app_;
  std::function<CommandResult()> chosen_;
};

// Replaces each --flagfile=PATH by the arguments in that file, one a line; empty lines and lines
// that begin with '#' are left out. Files may name further ones, up to 8 deep.
vm::Result<std::vector<std::string>> expandFlagFiles(std::vector<std::string> arguments);

} // namespace bessemer::tools
