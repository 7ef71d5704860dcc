#include <cstdio>

#include "tools/command.h"
#include "tools/documentation.h"

namespace bessemer::tools {

namespace {

CommandResult print(const vm::Result<std::string>& text) {
  if (!text)
    return std::unexpected(text.error());
  std::fwrite(text->data(), 1, text->size(), stdout);
  return 0;
}

} // namespace

std::function<CommandResult()> addCompletionCommand(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")->required();
  return [&app, shell] { return print(completionScript(*app.get_parent(), *shell)); };
}

std::function<CommandResult()> addManualCommand(CLI::App& app) {
  auto command = std::make_shared<std::string>();
  app.add_option("command", *command, "A command; without, the page of all");
  return
      [&app, command] { return print(manualPage(*app.get_parent(), *command, BESSEMER_VERSION)); };
}

} // namespace bessemer::tools
