// Profiling sessions: what reaches the sink, and when.

#include <string>

#include "hal/cts/device_test.h"

namespace bessemer::hal::cts {
namespace {

/// A sink that keeps what it is told.
struct RecordingSink {
  // Must be first: the HAL sees only this.
  iree_hal_resource_t resource;
  int begun = 0, ended = 0;
  bool writtenOutside = false;
  uint64_t session = 0;
  std::vector<iree_hal_profile_device_record_t> devices;
  std::vector<iree_hal_profile_queue_record_t> queues;
  std::vector<iree_hal_profile_queue_event_t> queueEvents;
  std::vector<iree_hal_profile_queue_device_event_t> deviceEvents;
  std::vector<iree_hal_profile_host_execution_event_t> hostEvents;

  RecordingSink() {
    static const iree_hal_profile_sink_vtable_t vtable = {
        // Lives in the test.
        .destroy = [](iree_hal_profile_sink_t*) {},
        .begin_session =
            [](iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* chunk) {
              RecordingSink* self = from(base);
              ++self->begun;
              self->session = chunk->session_id;
              return iree_ok_status();
            },
        .write =
            [](iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* chunk,
               iree_host_size_t count, const iree_const_byte_span_t* parts) {
              from(base)->write(*chunk, {parts, count});
              return iree_ok_status();
            },
        .end_session =
            [](iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t*,
               iree_status_code_t) {
              ++from(base)->ended;
              return iree_ok_status();
            },
    };
    iree_hal_resource_initialize(&vtable, &resource);
  }

  static RecordingSink* from(iree_hal_profile_sink_t* base) {
    return reinterpret_cast<RecordingSink*>(base);
  }
  iree_hal_profile_sink_t* base() { return reinterpret_cast<iree_hal_profile_sink_t*>(this); }

private:
  void write(const iree_hal_profile_chunk_metadata_t& chunk,
             std::span<const iree_const_byte_span_t> parts) {
    writtenOutside = writtenOutside || begun != 1 || ended != 0 || chunk.session_id != session;
    auto take = [&](iree_string_view_t type, auto& records) {
      using Record = typename std::remove_reference_t<decltype(records)>::value_type;
      if (!iree_string_view_equal(chunk.content_type, type))
        return;
      for (const auto& part : parts) {
        const auto* first = reinterpret_cast<const Record*>(part.data);
        records.insert(records.end(), first, first + part.data_length / sizeof(Record));
      }
    };
    take(IREE_HAL_PROFILE_CONTENT_TYPE_DEVICES, devices);
    take(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUES, queues);
    take(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS, queueEvents);
    take(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_DEVICE_EVENTS, deviceEvents);
    take(IREE_HAL_PROFILE_CONTENT_TYPE_HOST_EXECUTION_EVENTS, hostEvents);
  }
};

class ProfilingTest : public DeviceTest {
protected:
  /// Begins a session for one family of data; false when the device cannot record it.
  bool begin(RecordingSink& sink, iree_hal_device_profiling_data_families_t family) {
    iree_hal_device_profiling_options_t options = {};
    options.data_families = family;
    options.sink = sink.base();
    iree_status_t status = iree_hal_device_profiling_begin(device(), &options);
    if (iree_status_is_unimplemented(status)) {
      iree_status_ignore(status);
      return false;
    }
    IREE_EXPECT_OK(status);
    return true;
  }

  /// A fill, then a copy of as many bytes, then a barrier.
  void work(size_t size) {
    Buffer a = buffer(size), b = buffer(size);
    Semaphore timeline = semaphore();
    const uint8_t byte = 1;
    IREE_ASSERT_OK(iree_hal_device_queue_fill(device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{},
                                              Timepoints{{timeline, 1}}, a, 0, size, &byte, 1,
                                              IREE_HAL_FILL_FLAG_NONE));
    IREE_ASSERT_OK(iree_hal_device_queue_copy(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                              Timepoints{{timeline, 1}}, Timepoints{{timeline, 2}},
                                              a, 0, b, 0, size, IREE_HAL_COPY_FLAG_NONE));
    IREE_ASSERT_OK(iree_hal_device_queue_barrier(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                                 Timepoints{{timeline, 2}},
                                                 Timepoints{{timeline, 3}}, 0));
    IREE_ASSERT_OK(wait(timeline, 3));
  }

  template <typename Event>
  static const Event* find(const std::vector<Event>& events, uint32_t type) {
    for (const Event& event : events) {
      if (event.type == type)
        return &event;
    }
    return nullptr;
  }
};

TEST_P(ProfilingTest, ReportsQueueOperationsInTheirOrder) {
  RecordingSink sink;
  if (!begin(sink, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)) {
    GTEST_SKIP() << "the device records no queue events";
  }
  work(1000);
  IREE_ASSERT_OK(iree_hal_device_profiling_flush(device()));
  const auto* fill = find(sink.queueEvents, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL);
  const auto* copy = find(sink.queueEvents, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY);
  const auto* barrier = find(sink.queueEvents, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER);
  ASSERT_NE(fill, nullptr);
  ASSERT_NE(copy, nullptr);
  ASSERT_NE(barrier, nullptr);
  EXPECT_EQ(fill->payload_length, 1000u);
  EXPECT_EQ(copy->payload_length, 1000u);
  EXPECT_EQ(fill->wait_count, 0u);
  EXPECT_EQ(copy->wait_count, 1u);
  EXPECT_EQ(copy->signal_count, 1u);
  EXPECT_NE(fill->submission_id, copy->submission_id);
  EXPECT_LE(fill->host_time_ns, copy->host_time_ns);
  EXPECT_LE(copy->host_time_ns, barrier->host_time_ns);
  IREE_ASSERT_OK(iree_hal_device_profiling_end(device()));
  EXPECT_EQ(sink.begun, 1);
  EXPECT_EQ(sink.ended, 1);
  EXPECT_FALSE(sink.writtenOutside);
  ASSERT_EQ(sink.devices.size(), 1u);
  EXPECT_EQ(sink.devices[0].queue_count, sink.queues.size());
  EXPECT_EQ(sink.devices[0].record_length, sizeof(iree_hal_profile_device_record_t));
}

TEST_P(ProfilingTest, ReportsWhenTheHostExecuted) {
  RecordingSink sink;
  if (!begin(sink, IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS)) {
    GTEST_SKIP() << "the device executes nothing on the host";
  }
  work(64);
  IREE_ASSERT_OK(iree_hal_device_profiling_end(device()));
  const auto* fill = find(sink.hostEvents, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL);
  const auto* copy = find(sink.hostEvents, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY);
  ASSERT_NE(fill, nullptr);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(fill->status_code, static_cast<uint32_t>(IREE_STATUS_OK));
  EXPECT_LE(fill->start_host_time_ns, fill->end_host_time_ns);
  EXPECT_LE(fill->end_host_time_ns, copy->start_host_time_ns);
  EXPECT_TRUE(sink.queueEvents.empty()) << "nobody asked for those";
}

TEST_P(ProfilingTest, ReportsWhenTheDeviceExecuted) {
  RecordingSink sink;
  if (!begin(sink, IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS)) {
    GTEST_SKIP() << "the device has no clock of its own";
  }
  work(64);
  IREE_ASSERT_OK(iree_hal_device_profiling_end(device()));
  const auto* fill = find(sink.deviceEvents, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL);
  const auto* copy = find(sink.deviceEvents, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY);
  ASSERT_NE(fill, nullptr);
  ASSERT_NE(copy, nullptr);
  EXPECT_LE(fill->start_tick, fill->end_tick);
  EXPECT_LE(fill->end_tick, copy->start_tick);
}

TEST_P(ProfilingTest, RunsOneSessionAtATime) {
  RecordingSink first, second;
  if (!begin(first, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)) {
    GTEST_SKIP() << "the device records no queue events";
  }
  iree_hal_device_profiling_options_t options = {};
  options.data_families = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS;
  options.sink = second.base();
  EXPECT_THAT(Status(iree_hal_device_profiling_begin(device(), &options)),
              StatusIs(StatusCode::kFailedPrecondition));
  EXPECT_EQ(second.begun, 0);
  IREE_ASSERT_OK(iree_hal_device_profiling_end(device()));
  work(16);
  EXPECT_TRUE(first.queueEvents.empty());
  ASSERT_TRUE(begin(second, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS));
  work(16);
  IREE_ASSERT_OK(iree_hal_device_profiling_end(device()));
  EXPECT_GE(second.queueEvents.size(), 3u);
  EXPECT_EQ(second.ended, 1);
}

BESSEMER_HAL_CTS(ProfilingTest);

} // namespace
} // namespace bessemer::hal::cts
