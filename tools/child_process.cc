#include "tools/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern char** environ;

namespace bessemer::tools {

using vm::fail;
using vm::StatusCode;

vm::Result<ChildResult> runChild(const std::vector<std::string>& arguments,
                                 const std::function<void(std::string_view)>& on_stderr) {
  int ends[2];
  if (pipe(ends) != 0)
    return fail(StatusCode::ResourceExhausted, "no pipe: ", std::strerror(errno));
  for (int end : ends)
    fcntl(end, F_SETFD, FD_CLOEXEC);
  std::vector<char*> argv;
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return fail(StatusCode::NotFound, "cannot run ", arguments[0], ": ", std::strerror(error));
  }
  char block[4096];
  while (true) {
    const ssize_t count = read(ends[0], block, sizeof(block));
    if (count > 0)
      on_stderr({block, static_cast<size_t>(count)});
    else if (count == 0 || errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFSIGNALED(status) ? ChildResult{1, WTERMSIG(status)}
                             : ChildResult{WEXITSTATUS(status), 0};
}

} // namespace bessemer::tools
