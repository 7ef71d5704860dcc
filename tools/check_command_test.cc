#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/process.h"

namespace bessemer::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Compiled by the real compiler where there is one.
class CheckTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    const std::string model = ::testing::TempDir() + "/" + std::to_string(getpid()) + "-check.mlir";
    std::ofstream(model) << R"(
module @tests {
  func.func @addition_is_right() {
    %a = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %sum = arith.addf %a, %a : tensor<4xf32>
    check.expect_eq_const(%sum, dense<[2.0, 4.0, 6.0, 8.0]> : tensor<4xf32>) : tensor<4xf32>
    return
  }
  func.func @addition_is_wrong() {
    %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
    %sum = arith.addf %a, %a : tensor<2xf32>
    check.expect_almost_eq_const(%sum, dense<[2.0, 5.0]> : tensor<2xf32>) : tensor<2xf32>
    return
  }
}
)";
    module_ = ::testing::TempDir() + "/" + std::to_string(getpid()) + "-check.vmfb";
    ProcessResult result = runBessemer({"compile", model, "-o", module_});
    if (result.exit_code != 0) {
      module_.clear();
      why_ = result.err;
    }
  }
  void SetUp() override {
    if (module_.empty() && why_.find("there is no iree-compile") != why_.npos)
      GTEST_SKIP() << why_;
    ASSERT_FALSE(module_.empty()) << why_;
  }
  static std::string module_, why_;
};
std::string CheckTest::module_, CheckTest::why_;

TEST_F(CheckTest, RunsEveryTestAndTellsWhichFail) {
  ProcessResult result = runBessemer({"check", "--module=" + module_});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[       OK ] tests.addition_is_right"));
  EXPECT_THAT(result.out, HasSubstr("[  FAILED  ] tests.addition_is_wrong ("));
  EXPECT_THAT(result.out, HasSubstr("[  PASSED  ] 1 test.\n[  FAILED  ] tests.addition_is_wrong"));
}

TEST_F(CheckTest, Filter) {
  ProcessResult result = runBessemer({"check", module_, "--filter=*right"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("wrong")));
  result = runBessemer({"check", module_, "--filter=none"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no test to run: none matches none"));
  result = runBessemer({"check", module_, "--list"});
  EXPECT_EQ(result.out, "tests.addition_is_right\ntests.addition_is_wrong\n");
}

TEST_F(CheckTest, ExpectedFailure) {
  EXPECT_EQ(runBessemer({"check", module_, "--expect_failure"}).exit_code, 0);
  EXPECT_EQ(runBessemer({"check", module_, "--expect_failure", "--filter=*right"}).exit_code, 1);
}

TEST_F(CheckTest, FunctionsWithArgumentsAreNoTests) {
  ProcessResult result = runBessemer({"check", "--module={corpus}/simple_mul/model.metal.vmfb"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("jit_simple_mul.main takes arguments"));
}

} // namespace
} // namespace bessemer::tools
