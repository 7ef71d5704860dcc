#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/process.h"

namespace bessemer::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What bash offers after `words` (the last is being written).
std::string offered(const std::string& words) {
  const std::string path =
      ::testing::TempDir() + "/" + std::to_string(getpid()) + "-completion.bash";
  std::ofstream(path) << runBessemer({"completion", "bash"}).out << "compopt() { :; }\nCOMP_WORDS=("
                      << words
                      << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_bessemer\n"
                         "echo \"${COMPREPLY[*]}\"\n";
  return runBessemer({path}, "", "/bin/bash").out;
}

TEST(CompletionTest, BashOffersCommandsFlagsAndValues) {
  EXPECT_EQ(offered("bessemer ins"), "inspect\n");
  EXPECT_EQ(offered("bessemer run --expected_o"), "--expected_output=\n");
  EXPECT_EQ(offered("bessemer run --trace_"), "--trace_execution\n");
  EXPECT_EQ(offered("bessemer run --equality_mode = ex"), "exact\n");
  EXPECT_EQ(offered("bessemer run --equality_mode ="), "approximate exact\n");
  const std::string file =
      ::testing::TempDir() + "/" + std::to_string(getpid()) + "-only_file_of_this_name.vmfb";
  std::ofstream(file) << "x";
  EXPECT_EQ(offered("bessemer inspect " + file.substr(0, file.size() - 7)), file + "\n");
}

TEST(CompletionTest, ZshAndFish) {
  ProcessResult zsh = runBessemer({"completion", "zsh"});
  EXPECT_THAT(zsh.out, StartsWith("#compdef bessemer"));
  EXPECT_THAT(zsh.out, HasSubstr("'inspect:Show what"));
  EXPECT_THAT(zsh.out, HasSubstr(":(approximate exact)"));
  ProcessResult fish = runBessemer({"completion", "fish"});
  EXPECT_THAT(fish.out, HasSubstr("-l equality_mode -x -a 'approximate exact'"));
  ProcessResult other = runBessemer({"completion", "tcsh"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("bash, zsh and fish"));
}

TEST(ManualTest, PagesHaveEveryCommandAndFlag) {
  ProcessResult page = runBessemer({"manual"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_THAT(page.out, StartsWith(".TH bessemer 1"));
  for (const char* command : {"run", "bench", "check", "compile", "inspect", "devices"})
    EXPECT_THAT(page.out, HasSubstr("\\fB" + std::string(command) + "\\fR\n"));
  page = runBessemer({"manual", "run"});
  EXPECT_THAT(page.out, HasSubstr("\\fB\\-\\-expected_output\\fR=\\fIVALUE\\fR"));
  EXPECT_THAT(page.out, HasSubstr("\\fIapproximate|exact\\fR"));
  page = runBessemer({"manual", "nothing"});
  EXPECT_EQ(page.exit_code, 1);
}

} // namespace
} // namespace bessemer::tools
