#include <unistd.h>

#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/process.h"

namespace bessemer::tools {
namespace {

using ::testing::HasSubstr;

std::string writeFile(const std::string& name, const std::string& text, bool executable = false) {
  // Of this process alone: others run the same tests at the same time.
  const std::string folder = ::testing::TempDir() + "/compile_test_" + std::to_string(getpid());
  mkdir(folder.c_str(), 0755);
  std::string path = folder + "/" + name;
  std::ofstream(path) << text;
  if (executable)
    chmod(path.c_str(), 0755);
  return path;
}

// In place of iree-compile: tells its arguments, and what `script` does.
std::string fakeCompiler(const std::string& name, const std::string& script) {
  return writeFile(name, "#!/bin/sh\necho \"arguments: $*\"\n" + script + "\n", true);
}

TEST(CompileTest, PassesFlagsOnAndPicksMetal) {
  const std::string model = writeFile("m.mlir", "module {}\n");
  const std::string compiler = fakeCompiler("good-compiler", "exit 0");
  ProcessResult result = runBessemer(
      {"compile", model, "--iree-compile=" + compiler, "-o", "x.vmfb", "--iree-opt-level=O3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "arguments: " + model +
                            " -o x.vmfb --iree-hal-target-device=metal --iree-opt-level=O3\n");
  result = runBessemer(
      {"compile", model, "--iree-compile=" + compiler, "--iree-hal-target-device=local"});
  EXPECT_EQ(result.out, "arguments: " + model + " -o m.vmfb --iree-hal-target-device=local\n");
}

TEST(CompileTest, ExplainsKnownFailures) {
  const std::string model = writeFile("m.mlir", "module {}\n");
  struct Case {
    const char* script;
    const char* text;
  };
  for (const Case& c : {
           Case{"echo \"error: Capability 'DotProduct' requires min version v1.6 but target "
                "environment allows up to v1.3\" >&2; exit 1",
                "widen the operands to int16 or f32"},
           Case{"echo \"failed to legalize operation 'torch.operator'\" >&2; exit 1",
                "an ONNX or PyTorch operator"},
           Case{"kill -SEGV $$", "the compiler crashed (Segmentation fault)"},
           Case{"echo other >&2; exit 3", "failed with exit code 3"},
       }) {
    const std::string compiler = fakeCompiler("bad-compiler", c.script);
    ProcessResult result = runBessemer({"compile", model, "--iree-compile=" + compiler});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(c.text));
  }
  // The compiler's own words come through.
  ProcessResult result = runBessemer({"compile", model,
                                      "--iree-compile=" + fakeCompiler("bad-compiler", "echo its "
                                                                                       "words >&2; "
                                                                                       "exit 1")});
  EXPECT_THAT(result.err, HasSubstr("its words\n"));
}

TEST(CompileTest, Errors) {
  ProcessResult result = runBessemer({"compile", "/nonexistent.mlir"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot read '/nonexistent.mlir'"));
  result = runBessemer({"compile", writeFile("m.mlir", ""), "--iree-compile=/nonexistent"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot run /nonexistent"));
}

} // namespace
} // namespace bessemer::tools
