#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/testing/process.h"

namespace bessemer::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<std::string> arguments(std::vector<std::string> more) {
  more.insert(more.begin(),
              {"bench", "--module={corpus}/simple_mul/model.metal.vmfb", "--input=4xf32=1,2,3,4",
               "--input=4xf32=2", "--benchmark_min_time=0.001"});
  return more;
}

TEST(BenchTest, JsonOfGoogleBenchmark) {
  ProcessResult result =
      runBessemer(arguments({"--function=main", "--benchmark_format=json",
                             "--benchmark_repetitions=2", "--benchmark_time_unit=us"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  json root = json::parse(result.out, nullptr, false);
  ASSERT_FALSE(root.is_discarded()) << result.out;
  const json& first = root["benchmarks"][0];
  EXPECT_EQ(first["name"], "BM_main/process_time/real_time");
  EXPECT_EQ(first["time_unit"], "us");
  EXPECT_EQ(first["repetitions"], 2);
  EXPECT_GT(first["real_time"], 0.0);
}

// Each call counts as the batch's size: iterations are a multiple of it.
TEST(BenchTest, BatchSizeDividesTheTime) {
  ProcessResult result = runBessemer(arguments({"--batch_size=7", "--benchmark_format=json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  json root = json::parse(result.out, nullptr, false);
  ASSERT_FALSE(root.is_discarded()) << result.out;
  EXPECT_EQ(root["benchmarks"][0]["iterations"].get<int64_t>() % 7, 0);
}

// Three calls at once, each counting as two items.
TEST(BenchTest, ConcurrentCallsCountAsOneBatch) {
  ProcessResult result = runBessemer(
      arguments({"--batch_size=2", "--batch_concurrency=3", "--benchmark_format=json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  json root = json::parse(result.out, nullptr, false);
  ASSERT_FALSE(root.is_discarded()) << result.out;
  EXPECT_EQ(root["benchmarks"][0]["iterations"].get<int64_t>() % 6, 0);
  EXPECT_EQ(runBessemer(arguments({"--batch_concurrency=0"})).exit_code, 1);
}

TEST(BenchTest, DispatchStatisticsNameEachKernel) {
  ProcessResult result = runBessemer(
      arguments({"--dispatch_statistics", "--print_statistics", "--benchmark_min_time=0.001s"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // One dispatch a call, which is all of the time.
  EXPECT_THAT(result.err,
              ::testing::ContainsRegex("1\\.0 +100\\.0% .* main_dispatch_0_elementwise_4_f32\n"));
  EXPECT_THAT(result.err, HasSubstr("DEVICE_LOCAL:"));
}

TEST(BenchTest, Errors) {
  ProcessResult result = runBessemer(arguments({"--benchmark_filter=nothing"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("there is BM_main"));
  result = runBessemer(arguments({"--frobnicate"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("unknown flag '--frobnicate'"));
  result = runBessemer(arguments({"--input=4xf32=1"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("too many inputs"));
  result = runBessemer(arguments({"--batch_size=0"}));
  EXPECT_EQ(result.exit_code, 1);
}

} // namespace
} // namespace bessemer::tools
