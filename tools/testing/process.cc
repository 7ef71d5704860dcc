#include "tools/testing/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern char** environ;

namespace bessemer::tools {

namespace {

// A nameless file, so that neither side waits for the other to read.
std::FILE* scratch(const std::string& contents = {}) {
  std::FILE* file = std::tmpfile();
  if (!file)
    std::abort();
  std::fwrite(contents.data(), 1, contents.size(), file);
  std::rewind(file);
  return file;
}

std::string drain(std::FILE* file) {
  std::string text;
  char block[4096];
  std::rewind(file);
  while (size_t count = std::fread(block, 1, sizeof(block), file))
    text.append(block, count);
  std::fclose(file);
  return text;
}

} // namespace

std::string corpus() { return TOOLS_TEST_CORPUS; }

size_t lineCount(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

ProcessResult runBessemer(std::vector<std::string> arguments, const std::string& input,
                          const std::string& program) {
  std::string path = program.empty() ? TOOLS_TEST_BESSEMER : program;
  std::vector<char*> argv = {path.data()};
  for (std::string& argument : arguments) {
    for (size_t at; (at = argument.find("{corpus}")) != argument.npos;)
      argument.replace(at, 8, corpus());
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  std::FILE* in = scratch(input);
  std::FILE* out = scratch();
  std::FILE* err = scratch();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
  ProcessResult result;
  pid_t child = 0;
  if (posix_spawn(&child, path.c_str(), &actions, nullptr, argv.data(), environ) == 0) {
    int status = 0;
    waitpid(child, &status, 0);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  posix_spawn_file_actions_destroy(&actions);
  std::fclose(in);
  result.out = drain(out);
  result.err = drain(err);
  return result;
}

} // namespace bessemer::tools
