// Text made of the command line's own table: shells' completions and manual pages.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "vm/status.h"

namespace bessemer::tools {

// A script for `shell` ("bash", "zsh" or "fish") that completes subcommands, flags, the values of
// flags that take one of a few, and file names.
vm::Result<std::string> completionScript(const CLI::App& app, const std::string& shell);

// A page in man(7)'s macros: of the program, or with `command` of one subcommand.
vm::Result<std::string> manualPage(const CLI::App& app, const std::string& command,
                                   const std::string& version);

} // namespace bessemer::tools
