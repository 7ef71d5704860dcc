#include "tools/traces.h"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/testing/process.h"

namespace bessemer::tools {
namespace {

using nlohmann::json;

// A run's time line, by its own parser.
json trace(const std::string& model, std::vector<std::string> inputs) {
  const std::string path =
      ::testing::TempDir() + "/" + std::to_string(getpid()) + "-" + model + ".trace.json";
  inputs.insert(inputs.begin(),
                {"run", "--module={corpus}/" + model + "/model.metal.vmfb", "--trace=" + path});
  ProcessResult result = runBessemer(inputs);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::ifstream stream(path);
  json root = json::parse(stream, nullptr, false);
  unlink(path.c_str());
  EXPECT_FALSE(root.is_discarded());
  return root.is_discarded() ? json{{"traceEvents", json::array()}} : root;
}

json simpleTrace() { return trace("simple_mul", {"--input=4xf32=1,2,3,4", "--input=4xf32=2"}); }

std::vector<json> spansOf(const json& root, const std::string& category) {
  std::vector<json> spans;
  for (const json& event : root["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == category)
      spans.push_back(event);
  return spans;
}

// Nanoseconds, as the file's microseconds have three places.
std::pair<int64_t, int64_t> timesOf(const json& event) {
  const auto begin = std::llround(event["ts"].get<double>() * 1000);
  return {begin, begin + std::llround(event["dur"].get<double>() * 1000)};
}

bool inside(const json& inner, const json& outer) {
  auto [begin, end] = timesOf(inner);
  auto [outer_begin, outer_end] = timesOf(outer);
  return begin >= outer_begin && end <= outer_end;
}

bool onSameTrack(const json& left, const json& right) {
  return left["pid"] == right["pid"] && left["tid"] == right["tid"];
}

// What viewers ask for: the spans of a track are apart or one inside the other.
void expectNesting(const json& root) {
  std::map<std::pair<int64_t, int64_t>, std::vector<json>> tracks;
  for (const json& event : root["traceEvents"]) {
    if (event["ph"] != "X")
      continue;
    EXPECT_GE(event["dur"].get<double>(), 0) << event;
    tracks[{event["pid"], event["tid"]}].push_back(event);
  }
  for (const auto& [track, events] : tracks) {
    for (size_t i = 0; i < events.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const auto left = timesOf(events[i]), right = timesOf(events[j]);
        const bool apart = left.second <= right.first || right.second <= left.first;
        EXPECT_TRUE(apart || inside(events[i], events[j]) || inside(events[j], events[i]))
            << events[i] << "\n"
            << events[j];
      }
    }
  }
}

TEST(TraceTest, CallsAreInsideTheFunctionsThatMakeThem) {
  const json root = simpleTrace();
  std::map<std::string, json> events;
  for (const json& event : root["traceEvents"])
    if (event["ph"] == "X")
      events[event["name"]] = event;
  for (const char* name : {"main", "jit_simple_mul.main", "hal.device.queue.execute.indirect",
                           "load", "jit_simple_mul.__init"})
    ASSERT_TRUE(events.contains(name)) << root.dump();
  auto within = [&](const char* inner, const char* outer) {
    return onSameTrack(events[inner], events[outer]) && inside(events[inner], events[outer]);
  };
  EXPECT_TRUE(within("hal.device.queue.execute.indirect", "jit_simple_mul.main"));
  EXPECT_TRUE(within("jit_simple_mul.main", "main"));
  EXPECT_TRUE(within("jit_simple_mul.__init", "load"));
  EXPECT_FALSE(within("main", "load"));
  // Functions of the program have spans of their own, not those of imports.
  for (const json& import : spansOf(root, "import"))
    EXPECT_THAT(import["name"].get<std::string>(), ::testing::HasSubstr("hal."));
  expectNesting(root);
}

TEST(TraceTest, DispatchesTellKernelGridAndTime) {
  const json root = simpleTrace();
  const auto dispatches = spansOf(root, "dispatch");
  ASSERT_EQ(dispatches.size(), 1u);
  EXPECT_EQ(dispatches[0]["name"], "main_dispatch_0_elementwise_4_f32");
  // The kernel's header in the module: a threadgroup of 32 for 4 elements.
  EXPECT_EQ(dispatches[0]["args"]["threadgroups"], json::array({1, 1, 1}));
  EXPECT_EQ(dispatches[0]["args"]["threads_per_threadgroup"], json::array({32, 1, 1}));
  auto [begin, end] = timesOf(dispatches[0]);
  EXPECT_GT(end, begin);
  EXPECT_EQ(dispatches[0]["args"]["ns"], end - begin);
  // In time, the user's call encloses what the device did for it.
  std::vector<json> calls = spansOf(root, "call");
  ASSERT_EQ(calls.back()["name"], "main");
  EXPECT_TRUE(inside(dispatches[0], calls.back())) << dispatches[0] << calls.back();
}

TEST(TraceTest, EveryKernelOfAModelIsThereInsideItsSubmission) {
  ProcessResult report =
      runBessemer({"inspect", "--json", "{corpus}/lenet_const/model.metal.vmfb"});
  ASSERT_EQ(report.exit_code, 0) << report.err;
  std::multiset<std::string> kernels;
  for (const json& executable : json::parse(report.out)["executables"])
    for (const json& function : executable["functions"])
      kernels.insert(function["name"].get<std::string>());
  ASSERT_EQ(kernels.size(), 8u);

  const json root = trace("lenet_const", {"--input=@{corpus}/lenet_const/inputs/input_00.npy"});
  expectNesting(root);
  std::map<uint64_t, json> submissions;
  for (const json& submission : spansOf(root, "submission"))
    submissions[submission["args"]["submission"]] = submission;
  std::multiset<std::string> seen;
  for (const json& dispatch : spansOf(root, "dispatch")) {
    seen.insert(dispatch["name"].get<std::string>());
    const uint64_t submission = dispatch["args"]["submission"];
    ASSERT_TRUE(submissions.contains(submission)) << dispatch;
    EXPECT_EQ(submissions[submission]["name"], "execute");
    EXPECT_TRUE(inside(dispatch, submissions[submission])) << dispatch << submissions[submission];
  }
  EXPECT_EQ(seen, kernels);
}

TEST(TraceTest, TracksHoldSpansThatNest) {
  // Apart; inside; touching; crossing, which takes a second track; across both, a third.
  EXPECT_EQ(nestedTracks({{0, 10}, {2, 4}, {4, 6}, {5, 8}, {9, 12}, {10, 11}}),
            (std::vector<size_t>{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(nestedTracks({{0, 10}, {1, 11}, {2, 12}}), (std::vector<size_t>{0, 1, 2}));
  EXPECT_TRUE(nestedTracks({}).empty());
}

} // namespace
} // namespace bessemer::tools
