// A subcommand of `bessemer`: its flags and what it does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "vm/status.h"

namespace bessemer::tools {

// What a command ends with: an exit code (0 only for success and, where results were compared, a
// match), or an error that main prints.
using CommandResult = vm::Result<int>;

// Each adds its flags to `app` and returns what to do when it was chosen. The returned function may
// use the flags' storage, which it owns.
std::function<CommandResult()> addRunCommand(CLI::App& app);
std::function<CommandResult()> addBenchCommand(CLI::App& app);
std::function<CommandResult()> addCheckCommand(CLI::App& app);
std::function<CommandResult()> addCompileCommand(CLI::App& app);
std::function<CommandResult()> addInspectCommand(CLI::App& app);
std::function<CommandResult()> addDevicesCommand(CLI::App& app);
std::function<CommandResult()> addCompletionCommand(CLI::App& app);
std::function<CommandResult()> addManualCommand(CLI::App& app);

// What `devices` does: lists the devices of one driver, or of all where `only` is empty, with their
// limits and features where `describe`.
CommandResult printDevices(const std::string& only, bool describe);
CommandResult printDrivers();

// The flags that every command with programs and devices takes.
struct ProgramFlags {
  std::vector<std::string> modules;
  std::vector<std::string> devices;
  std::vector<std::string> parameters;
  std::string module_mode = "mmap";
  std::string parameter_mode = "file";
  void addTo(CLI::App& app);
};

} // namespace bessemer::tools
