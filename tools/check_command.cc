#include <fnmatch.h>

#include <chrono>
#include <cstdio>

#include "tools/command.h"
#include "tools/programs.h"
#include "tools/progress.h"

namespace bessemer::tools {

using vm::fail;
using vm::StatusCode;

namespace {

struct CheckFlags {
  ProgramFlags program;
  std::string filter = "*";
  bool list = false;
  bool expect_failure = false;
};

std::string fullName(const vm::Function& function) {
  return vm::concat(function.module().name(), ".", function.name());
}

// Names of the VM's and the compiler's own functions, as in Session::function.
bool isTest(const vm::Function& function) {
  return !function.name().starts_with("__") && function.name().find('$') == std::string_view::npos;
}

double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

CommandResult check(const CheckFlags& flags) {
  BESSEMER_ASSIGN_OR_RETURN(Program program, Program::open(flags.program));
  BESSEMER_ASSIGN_OR_RETURN(const auto functions, program.session().functions());
  std::vector<vm::Function> tests;
  for (const vm::Function& function : functions) {
    if (!isTest(function))
      continue;
    const std::string name = fullName(function);
    if (fnmatch(flags.filter.c_str(), name.c_str(), 0) != 0 &&
        fnmatch(flags.filter.c_str(), std::string(function.name()).c_str(), 0) != 0)
      continue;
    // The fences of functions that have them are added by the session.
    if (function.signature().arguments.size() != (function.usesFences() ? 2 : 0))
      return fail(StatusCode::InvalidArgument, name, " takes arguments, so it is no test");
    tests.push_back(function);
  }
  if (flags.list) {
    for (const vm::Function& test : tests)
      std::printf("%s\n", fullName(test).c_str());
    return 0;
  }
  if (tests.empty())
    return fail(StatusCode::NotFound, "no test to run",
                flags.filter == "*" ? "" : vm::concat(": none matches ", flags.filter));

  std::vector<std::string> failed;
  const auto begin = std::chrono::steady_clock::now();
  std::printf("[==========] Running %zu test%s.\n", tests.size(), tests.size() == 1 ? "" : "s");
  for (const vm::Function& test : tests) {
    const std::string name = fullName(test);
    std::printf("[ RUN      ] %s\n", name.c_str());
    std::fflush(stdout);
    const auto start = std::chrono::steady_clock::now();
    auto result = [&] {
      Progress progress("running " + name);
      return program.session().call(test, {});
    }();
    if (!result) {
      std::printf("%s\n", result.error().toString().c_str());
      failed.push_back(name);
    }
    std::printf("[%s] %s (%.0f ms)\n", result ? "       OK " : "  FAILED  ", name.c_str(),
                millisecondsSince(start));
  }
  std::printf("[==========] %zu test%s ran. (%.0f ms total)\n", tests.size(),
              tests.size() == 1 ? "" : "s", millisecondsSince(begin));
  std::printf("[  PASSED  ] %zu test%s.\n", tests.size() - failed.size(),
              tests.size() - failed.size() == 1 ? "" : "s");
  for (const std::string& name : failed)
    std::printf("[  FAILED  ] %s\n", name.c_str());
  if (flags.expect_failure && failed.empty())
    return fail(StatusCode::FailedPrecondition, "a failure was expected and every test passed");
  return failed.empty() != flags.expect_failure ? 0 : 1;
}

} // namespace

std::function<CommandResult()> addCheckCommand(CLI::App& app) {
  auto flags = std::make_shared<CheckFlags>();
  flags->program.addTo(app);
  app.add_option("file", flags->program.modules, "The same as --module");
  app.add_option("--filter,--gtest_filter", flags->filter,
                 "Only tests whose name matches this pattern (* and ?)")
      ->capture_default_str();
  app.add_flag("--list", flags->list, "List the tests and do nothing else");
  app.add_flag("--expect_failure", flags->expect_failure,
               "Exit with 0 when a test fails, 1 when all pass");
  app.footer(
      "Every exported function without arguments is a test; it may import the module `check` "
      "(check.expect_eq, check.expect_almost_eq, ...).");
  return [flags] { return check(*flags); };
}

} // namespace bessemer::tools
