// A compiled program's dispatches as a trace shows them.
#include "tools/device_timeline.h"

#include <chrono>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/metal/registration/driver_module.h"
#include "modules/devices.h"
#include "modules/session.h"
#include "modules/tensors.h"

namespace bessemer::tools {
namespace {

using modules::openDevice;
using modules::Session;
using modules::toDevice;
using ::testing::ElementsAre;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TEST(DeviceTimelineTest, NamesTheKernelsOfAProgramAndWhenTheyRan) {
  iree_status_ignore(iree_hal_metal_driver_module_register(iree_hal_driver_registry_default()));
  auto device = openDevice("metal");
  ASSERT_TRUE(device) << device.error().message();
  Session::Options options;
  options.devices = {device->get()};
  auto session = Session::create(std::move(options));
  ASSERT_TRUE(session) << session.error().message();
  // Normalises 51 rows of 96 numbers, a threadgroup each.
  ASSERT_TRUE((*session)->load(CASES "/layernorm/model.metal.vmfb"));
  auto function = (*session)->function("main");
  ASSERT_TRUE(function) << function.error().message();
  const std::vector<float> rows(size_t{51} * 96, 1.0f), scales(96, 1.0f);
  std::vector<vm::Value> inputs;
  inputs.push_back(*toDevice<float>(device->get(), {3, 17, 96}, rows));
  inputs.push_back(*toDevice<float>(device->get(), {96}, scales));
  inputs.push_back(*toDevice<float>(device->get(), {96}, scales));
  ASSERT_TRUE((*session)->call(*function, inputs)); // compiles

  auto trace = DeviceTimeline::begin(device->get());
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_FALSE(DeviceTimeline::begin(device->get())) << "one at a time";
  const int64_t before = now();
  ASSERT_TRUE((*session)->call(*function, inputs));
  const int64_t after = now();
  auto work = (*trace)->take();
  ASSERT_TRUE(work) << work.error().message();

  std::vector<DeviceSpan> dispatches, executes;
  for (const DeviceSpan& each : *work) {
    if (each.kind == DeviceSpan::Kind::Submission)
      continue; // on the host's clock
    EXPECT_GE(each.begin, before);
    EXPECT_LE(each.begin, each.end);
    EXPECT_LE(each.end, after);
    if (each.kind == DeviceSpan::Kind::Dispatch)
      dispatches.push_back(each);
    else if (each.kind == DeviceSpan::Kind::Execution && each.name == "execute")
      executes.push_back(each);
  }
  ASSERT_EQ(dispatches.size(), 2u);
  EXPECT_EQ(dispatches[0].name, "main_dispatch_0_reduction_51x96_f32");
  EXPECT_EQ(dispatches[1].name, "main_dispatch_1_reduction_51x96_f32");
  for (const DeviceSpan& dispatch : dispatches) {
    EXPECT_THAT(dispatch.threadgroup_size, ElementsAre(96, 1, 1));
    EXPECT_EQ(dispatch.threadgroups[0] * dispatch.threadgroups[1] * dispatch.threadgroups[2], 51u);
  }
  EXPECT_LE(dispatches[0].end, dispatches[1].begin) << "the second needs what the first wrote";
  ASSERT_EQ(executes.size(), 1u);
  EXPECT_EQ(executes[0].submission, dispatches[0].submission);
  EXPECT_LE(executes[0].begin, dispatches[0].begin);
  EXPECT_GE(executes[0].end, dispatches[1].end);

  // What is recorded later is handed on later, and nothing twice.
  ASSERT_TRUE((*session)->call(*function, inputs));
  auto rest = (*trace)->end();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->size(), work->size());
  ASSERT_TRUE((*session)->call(*function, inputs));
  EXPECT_TRUE((*trace)->take()->empty());
}

} // namespace
} // namespace bessemer::tools
