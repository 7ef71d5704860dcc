// Drivers, devices and groups.

#include "hal/cts/device_test.h"
#include "iree/async/frontier_tracker.h"

namespace bessemer::hal::cts {
namespace {

class DevicePropertiesTest : public DeviceTest {};

TEST_P(DevicePropertiesTest, AnswersWhatItIsAsked) {
  EXPECT_GT(iree_hal_device_id(device()).size, 0u);
  int64_t value = -1;
  IREE_ASSERT_OK(
      iree_hal_device_query_i64(device(), IREE_SV("hal.device.id"), IREE_SV("*"), &value));
  EXPECT_EQ(value, 1);
  IREE_ASSERT_OK(iree_hal_device_query_i64(device(), IREE_SV("hal.device.id"),
                                           IREE_SV("no-such-device"), &value));
  EXPECT_EQ(value, 0);
  IREE_ASSERT_OK(iree_hal_device_query_i64(device(), IREE_SV("hal.executable.format"),
                                           IREE_SV("no-such-format"), &value));
  EXPECT_EQ(value, 0);
  EXPECT_THAT(Status(iree_hal_device_query_i64(device(), IREE_SV("no.such.category"), IREE_SV("x"),
                                               &value)),
              StatusIs(StatusCode::kNotFound));
  iree_hal_device_capabilities_t capabilities;
  IREE_EXPECT_OK(iree_hal_device_query_capabilities(device(), &capabilities));
}

TEST_P(DevicePropertiesTest, KnowsItsPlaceInItsGroup) {
  const iree_hal_device_topology_info_t* info = iree_hal_device_topology_info(device());
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->topology_index, 0u);
  ASSERT_NE(info->topology, nullptr);
  EXPECT_EQ(iree_hal_topology_device_count(info->topology), 1u);
  EXPECT_NE(info->frontier.tracker, nullptr);
  EXPECT_EQ(iree_hal_topology_edge_wait_mode(info->self_edge),
            IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE);
}

TEST_P(DevicePropertiesTest, WorksWithoutAGroup) {
  Ref<iree_hal_driver_t> driver;
  Ref<iree_hal_device_t> separate;
  IREE_ASSERT_OK(createSeparateDevice(&driver, &separate));
  iree_hal_queue_pool_backend_t backend;
  EXPECT_THAT(Status(iree_hal_device_query_queue_pool_backend(separate, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                              &backend)),
              StatusIs(StatusCode::kFailedPrecondition));

  Semaphore timeline;
  IREE_ASSERT_OK(iree_hal_semaphore_create(separate, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                           IREE_HAL_SEMAPHORE_FLAG_DEFAULT, timeline.out()));
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING;
  Buffer target;
  IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(separate), params, 32,
                                                    target.out()));
  const uint8_t byte = 0x57;
  IREE_ASSERT_OK(iree_hal_device_queue_fill(separate, IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{},
                                            Timepoints{{timeline, 1}}, target, 0, 32, &byte, 1,
                                            IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(wait(timeline, 1));
  uint8_t back = 0;
  IREE_ASSERT_OK(iree_hal_buffer_map_read(target, 31, &back, 1));
  EXPECT_EQ(back, byte);
}

TEST_P(DevicePropertiesTest, GoesWithTheLastWorkThatNeedsIt) {
  // The only reference left to the device is that of work in flight.
  Ref<iree_hal_driver_t> driver;
  Ref<iree_hal_device_t> separate;
  IREE_ASSERT_OK(createSeparateDevice(&driver, &separate));
  Semaphore go = semaphore(), done;
  IREE_ASSERT_OK(iree_hal_semaphore_create(separate, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                           IREE_HAL_SEMAPHORE_FLAG_DEFAULT, done.out()));
  Semaphore own;
  IREE_ASSERT_OK(iree_hal_semaphore_create(separate, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                           IREE_HAL_SEMAPHORE_FLAG_DEFAULT, own.out()));
  IREE_ASSERT_OK(iree_hal_device_queue_barrier(separate, IREE_HAL_QUEUE_AFFINITY_ANY,
                                               Timepoints{{own, 1}}, Timepoints{{done, 1}},
                                               IREE_HAL_EXECUTE_FLAG_NONE));
  separate.reset();
  driver.reset();
  IREE_ASSERT_OK(iree_hal_semaphore_signal(own, 1, nullptr));
  IREE_EXPECT_OK(wait(done, 1));
}

TEST_P(DevicePropertiesTest, SharesSemaphoresWithOtherDevices) {
  Ref<iree_hal_driver_t> driver;
  Ref<iree_hal_device_t> other;
  IREE_ASSERT_OK(createSeparateDevice(&driver, &other));
  Semaphore foreign;
  IREE_ASSERT_OK(iree_hal_semaphore_create(other, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                           IREE_HAL_SEMAPHORE_FLAG_DEFAULT, foreign.out()));
  Semaphore own = semaphore();
  // This device waits for what the other one signals, and the other way round.
  IREE_ASSERT_OK(iree_hal_device_queue_barrier(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                               Timepoints{{foreign, 1}}, Timepoints{{own, 1}}, 0));
  IREE_ASSERT_OK(iree_hal_device_queue_barrier(other, IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{},
                                               Timepoints{{foreign, 1}}, 0));
  IREE_ASSERT_OK(iree_hal_device_queue_barrier(other, IREE_HAL_QUEUE_AFFINITY_ANY,
                                               Timepoints{{own, 1}}, Timepoints{{foreign, 2}}, 0));
  IREE_EXPECT_OK(wait(foreign, 2));
}

TEST_P(DevicePropertiesTest, FormsGroupsOfSeveral) {
  Ref<iree_hal_driver_t> drivers[2];
  Ref<iree_hal_device_t> devices[2];
  for (int i = 0; i < 2; ++i)
    IREE_ASSERT_OK(createSeparateDevice(&drivers[i], &devices[i]));
  iree_async_frontier_tracker_t* tracker = nullptr;
  IREE_ASSERT_OK(iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_default(),
                                                    iree_allocator_system(), &tracker));
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, tracker);
  for (auto& device : devices) {
    IREE_ASSERT_OK(iree_hal_device_group_builder_add_device(&builder, device));
  }
  iree_hal_device_group_t* group = nullptr;
  IREE_ASSERT_OK(iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), &group));
  EXPECT_EQ(iree_hal_device_group_device_count(group), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(iree_hal_device_group_device_at(group, i), devices[i].get());
    const auto* info = iree_hal_device_topology_info(devices[i]);
    EXPECT_EQ(info->topology_index, i);
    EXPECT_EQ(info->topology, iree_hal_device_group_topology(group));
    EXPECT_NE(info->can_wait_from & (1u << (1 - i)), 0u);
  }
  EXPECT_NE(iree_hal_device_topology_info(devices[0])->frontier.base_axis,
            iree_hal_device_topology_info(devices[1])->frontier.base_axis);
  iree_string_builder_t text;
  iree_string_builder_initialize(iree_allocator_system(), &text);
  IREE_EXPECT_OK(iree_hal_topology_dump_matrix(iree_hal_device_group_topology(group), &text));
  EXPECT_GT(iree_string_builder_size(&text), 0u);
  iree_string_builder_deinitialize(&text);
  for (auto& device : devices)
    device.reset();
  iree_hal_device_group_release(group);
  iree_async_frontier_tracker_release(tracker);
}

TEST_P(DevicePropertiesTest, RefusesProfilingRequestsThatMakeNoSense) {
  iree_hal_device_profiling_options_t options = {};
  IREE_EXPECT_OK(iree_hal_device_profiling_begin(device(), &options));
  options.data_families = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS;
  EXPECT_THAT(Status(iree_hal_device_profiling_begin(device(), &options)),
              StatusIs(StatusCode::kInvalidArgument));
  options = {};
  options.flags = 1u << 31;
  EXPECT_THAT(Status(iree_hal_device_profiling_begin(device(), &options)),
              StatusIs(StatusCode::kInvalidArgument));
  options = {};
  options.capture_filter.flags = IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_BUFFER_ID;
  EXPECT_THAT(Status(iree_hal_device_profiling_begin(device(), &options)),
              StatusIs(StatusCode::kInvalidArgument));
  iree_hal_device_external_capture_options_t capture = {};
  EXPECT_THAT(Status(iree_hal_device_external_capture_begin(device(), &capture)),
              StatusIs(StatusCode::kInvalidArgument));
}

TEST_P(DevicePropertiesTest, SaysWhichExecutablesItTakes) {
  Ref<iree_hal_executable_cache_t> cache;
  IREE_ASSERT_OK(iree_hal_executable_cache_create(device(), IREE_SV("default"), cache.out()));
  EXPECT_FALSE(iree_hal_executable_cache_can_prepare_format(cache, 0, IREE_SV("no-such-format")));
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = IREE_SV("no-such-format");
  const uint8_t data[16] = {};
  params.executable_data = iree_make_const_byte_span(data, sizeof(data));
  Ref<iree_hal_executable_t> executable;
  EXPECT_FALSE(
      Status(iree_hal_executable_cache_prepare_executable(cache, &params, executable.out())).ok());
  EXPECT_EQ(executable.get(), nullptr);
}

BESSEMER_HAL_CTS(DevicePropertiesTest);

} // namespace
} // namespace bessemer::hal::cts
