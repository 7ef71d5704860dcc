// What profiles tell of dispatches, counters, memory and the device.
#include "drivers/metal/profiler.h"

#include <cstddef>
#include <map>
#include <string>

#include "drivers/metal/dispatch_test.h"

namespace bessemer::metal_driver {
namespace {

using ::testing::ElementsAre;

/// Keeps the records of a session by content type, each with what follows it.
struct RecordingSink {
  iree_hal_resource_t resource;
  std::map<std::string, std::vector<std::vector<uint8_t>>> records;
  int ended = 0;

  RecordingSink() {
    static const iree_hal_profile_sink_vtable_t kVtable = {
        [](iree_hal_profile_sink_t*) {},
        [](iree_hal_profile_sink_t*, const iree_hal_profile_chunk_metadata_t*) {
          return iree_ok_status();
        },
        [](iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* chunk,
           iree_host_size_t count, const iree_const_byte_span_t* parts) {
          reinterpret_cast<RecordingSink*>(base)->Take(*chunk, {parts, count});
          return iree_ok_status();
        },
        [](iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t*,
           iree_status_code_t) {
          ++reinterpret_cast<RecordingSink*>(base)->ended;
          return iree_ok_status();
        },
    };
    iree_hal_resource_initialize(&kVtable, &resource);
  }

  iree_hal_profile_sink_t* base() { return reinterpret_cast<iree_hal_profile_sink_t*>(this); }

  void Take(const iree_hal_profile_chunk_metadata_t& chunk,
            std::span<const iree_const_byte_span_t> parts) {
    auto& list = records[std::string(ToStd(chunk.content_type))];
    for (const iree_const_byte_span_t& part : parts) {
      for (size_t at = 0; at < part.data_length;) {
        uint32_t length = 0;
        std::memcpy(&length, part.data + at, sizeof(length));
        ASSERT_TRUE(length >= 8 && length <= part.data_length - at) << ToStd(chunk.content_type);
        list.emplace_back(part.data + at, part.data + at + length);
        at += length;
      }
    }
  }

  template <class Record>
  std::vector<Record> Get(iree_string_view_t type) {
    std::vector<Record> result;
    for (const auto& bytes : records[std::string(ToStd(type))]) {
      Record record;
      std::memcpy(&record, bytes.data(), sizeof(record));
      result.push_back(record);
    }
    return result;
  }
  /// What follows the `index`th record.
  template <class Record>
  std::string Trailing(iree_string_view_t type, size_t index) {
    const auto& bytes = records[std::string(ToStd(type))][index];
    return std::string(bytes.begin() + sizeof(Record), bytes.end());
  }
};

class ProfilerTest : public DispatchTest {
protected:
  iree_status_t Begin(iree_hal_device_profiling_data_families_t families) {
    options_.data_families = families;
    options_.sink = sink_.base();
    return iree_hal_device_profiling_begin(device_, &options_);
  }
  void End() {
    IREE_ASSERT_OK(iree_hal_device_profiling_end(device_));
    EXPECT_EQ(sink_.ended, 1);
  }
  std::vector<iree_hal_profile_dispatch_event_t> Dispatches() {
    return sink_.Get<iree_hal_profile_dispatch_event_t>(
        IREE_HAL_PROFILE_CONTENT_TYPE_DISPATCH_EVENTS);
  }
  std::string NameOf(const iree_hal_profile_dispatch_event_t& event) {
    iree_string_view_t type = IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_FUNCTIONS;
    auto functions = sink_.Get<iree_hal_profile_executable_function_record_t>(type);
    for (size_t i = 0; i < functions.size(); ++i) {
      if (functions[i].executable_id == event.executable_id &&
          functions[i].function_ordinal == event.function_ordinal)
        return sink_.Trailing<iree_hal_profile_executable_function_record_t>(type, i);
    }
    return "";
  }

  RecordingSink sink_;
  iree_hal_device_profiling_options_t options_ = {};
};

TEST_F(ProfilerTest, DispatchesHaveNamesCountsAndTimes) {
  auto counted = NewBuffer(4), words = NewBuffer(64);
  auto commands = NewCommandBuffer();
  IREE_ASSERT_OK(Count(commands, Ref(counted, 0, 4), {4, 3, 2}));
  const uint32_t constants[] = {1, 1};
  IREE_ASSERT_OK(Scale(commands, Ref(words, 0, 64), Ref(words, 0, 64), constants, 2));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  IREE_ASSERT_OK(Begin(IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS));
  IREE_ASSERT_OK(ExecuteAndWait(commands));
  IREE_ASSERT_OK(ExecuteAndWait(commands));
  End();
  auto events = Dispatches();
  ASSERT_EQ(events.size(), 4u);
  uint64_t before = 0;
  for (size_t i = 0; i < 4; ++i) {
    bool is_count = i % 2 == 0;
    EXPECT_EQ(NameOf(events[i]), is_count ? "count.threadgroups" : "module__scale$async.f32");
    EXPECT_THAT(events[i].workgroup_count, is_count ? ElementsAre(4, 3, 2) : ElementsAre(2, 1, 1));
    EXPECT_THAT(events[i].workgroup_size, ElementsAre(is_count ? 1 : 8, 1, 1));
    EXPECT_EQ(events[i].command_buffer_id, iree_hal_command_buffer_profile_id(commands.get()));
    EXPECT_EQ(events[i].command_index, i % 2);
    EXPECT_LT(events[i].start_tick, events[i].end_tick);
    EXPECT_LE(before, events[i].start_tick) << "passes follow one another";
    before = events[i].end_tick;
  }
  EXPECT_EQ(events[0].submission_id, events[1].submission_id);
  EXPECT_NE(events[1].submission_id, events[2].submission_id);
  EXPECT_EQ(Words(words)[0], 2u) << "what is profiled computes the same";
}

// More dispatches than Metal has samples in one buffer: each still has a time of its own.
TEST_F(ProfilerTest, TimesAnyNumberOfDispatches) {
  constexpr size_t kCount = 5000;
  auto counted = NewBuffer(4);
  auto commands = NewCommandBuffer();
  for (size_t i = 0; i < kCount; ++i)
    IREE_ASSERT_OK(Count(commands, Ref(counted, 0, 4), {1, 1, 1}));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  IREE_ASSERT_OK(Begin(IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS));
  IREE_ASSERT_OK(ExecuteAndWait(commands));
  End();
  auto events = Dispatches();
  ASSERT_EQ(events.size(), kCount);
  for (size_t i = 1; i < kCount; ++i)
    ASSERT_LE(events[i - 1].end_tick, events[i].start_tick) << i;
  EXPECT_THAT(Words(counted), ElementsAre(kCount));
}

TEST_F(ProfilerTest, CountersTellWhatADispatchAdded) {
  auto counted = NewBuffer(4);
  auto commands = NewCommandBuffer();
  for (int i = 0; i < 3; ++i)
    IREE_ASSERT_OK(Count(commands, Ref(counted, 0, 4), {2, 1, 1}));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  iree_string_view_t counter_name = IREE_SV("GPUTimestamp");
  iree_hal_profile_counter_set_selection_t set = {};
  set.name = IREE_SV("timestamp");
  set.counter_name_count = 1;
  set.counter_names = &counter_name;
  options_.counter_set_count = 1;
  options_.counter_sets = &set;
  IREE_ASSERT_OK(Begin(IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
                       IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES));
  IREE_ASSERT_OK(ExecuteAndWait(commands));
  End();
  EXPECT_TRUE(Dispatches().empty()) << "nobody asked for those";
  iree_string_view_t sets_type = IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SETS;
  ASSERT_EQ(sink_.Get<iree_hal_profile_counter_set_record_t>(sets_type).size(), 1u);
  EXPECT_EQ(sink_.Trailing<iree_hal_profile_counter_set_record_t>(sets_type, 0), "timestamp");
  iree_string_view_t counters_type = IREE_HAL_PROFILE_CONTENT_TYPE_COUNTERS;
  ASSERT_EQ(sink_.Get<iree_hal_profile_counter_record_t>(counters_type).size(), 1u);
  EXPECT_EQ(sink_.Trailing<iree_hal_profile_counter_record_t>(counters_type, 0), "GPUTimestamp");
  iree_string_view_t type = IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SAMPLES;
  auto samples = sink_.Get<iree_hal_profile_counter_sample_record_t>(type);
  ASSERT_EQ(samples.size(), 4u);
  uint64_t sum = 0;
  for (size_t i = 0; i < 4; ++i) {
    std::string values = sink_.Trailing<iree_hal_profile_counter_sample_record_t>(type, i);
    ASSERT_EQ(values.size(), 8u);
    uint64_t value = 0;
    std::memcpy(&value, values.data(), 8);
    EXPECT_EQ(samples[i].scope, i < 3 ? IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DISPATCH
                                      : IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DEVICE_TIME_RANGE);
    // The device's clock may run at another rate than ticks do.
    EXPECT_NEAR(static_cast<double>(value),
                static_cast<double>(samples[i].end_tick - samples[i].start_tick),
                0.01 * static_cast<double>(value) + 2);
    if (i < 3)
      sum += value;
    else
      EXPECT_GE(value, sum);
  }
}

TEST_F(ProfilerTest, UnknownCountersAreRefusedByName) {
  iree_string_view_t counter = IREE_SV("Sheep");
  iree_hal_profile_counter_set_selection_t set = {};
  set.counter_name_count = 1;
  set.counter_names = &counter;
  options_.counter_set_count = 1;
  options_.counter_sets = &set;
  set.name = IREE_SV("statistics of nothing");
  iree::Status status(Begin(IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES));
  EXPECT_EQ(status.code(), iree::StatusCode::kNotFound);
  EXPECT_THAT(status.ToString(), ::testing::HasSubstr("it has: timestamp"));
  set.name = IREE_SV("timestamp");
  IREE_EXPECT_STATUS_IS(IREE_STATUS_NOT_FOUND,
                        Begin(IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES));
  EXPECT_TRUE(sink_.records.empty());
}

TEST_F(ProfilerTest, MemoryEventsFollowBuffersAndQueueAllocations) {
  IREE_ASSERT_OK(Begin(IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS));
  {
    auto buffer = NewBuffer(1000);
  }
  Fence allocated(device_), freed(device_);
  iree_hal_buffer_t* raw = nullptr;
  IREE_ASSERT_OK(iree_hal_device_queue_alloca(device_, kAny, Fence(), allocated, nullptr, {}, 4096,
                                              IREE_HAL_ALLOCA_FLAG_NONE, &raw));
  auto transient = HalPtr<iree_hal_buffer_t>::Take(raw);
  IREE_ASSERT_OK(iree_hal_device_queue_dealloca(device_, kAny, allocated, freed, transient.get(),
                                                IREE_HAL_DEALLOCA_FLAG_NONE));
  IREE_ASSERT_OK(freed.Wait());
  End();
  std::map<uint32_t, std::vector<iree_hal_profile_memory_event_t>> events;
  for (const auto& event :
       sink_.Get<iree_hal_profile_memory_event_t>(IREE_HAL_PROFILE_CONTENT_TYPE_MEMORY_EVENTS))
    events[event.type].push_back(event);
  auto& made = events[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE];
  auto& gone = events[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE];
  ASSERT_GE(made.size(), 1u);
  ASSERT_GE(gone.size(), 1u);
  EXPECT_EQ(made[0].length, 1000u);
  EXPECT_EQ(made[0].allocation_id, gone[0].allocation_id);
  EXPECT_LT(made[0].event_id, gone[0].event_id);
  auto& alloca = events[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA];
  auto& dealloca = events[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA];
  ASSERT_EQ(alloca.size(), 1u);
  ASSERT_EQ(dealloca.size(), 1u);
  EXPECT_EQ(alloca[0].length, 4096u);
  EXPECT_EQ(alloca[0].result, static_cast<uint32_t>(IREE_STATUS_OK));
  EXPECT_EQ(alloca[0].allocation_id, dealloca[0].allocation_id);
  EXPECT_NE(alloca[0].submission_id, dealloca[0].submission_id);
}

TEST_F(ProfilerTest, MetricsTellTheMemoryInUse) {
  auto values_of = [&](size_t index) {
    std::string bytes = sink_.Trailing<iree_hal_profile_device_metric_sample_record_t>(
        IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_SAMPLES, index);
    std::map<uint64_t, uint64_t> values;
    for (size_t at = 0; at + sizeof(iree_hal_profile_device_metric_value_t) <= bytes.size();
         at += sizeof(iree_hal_profile_device_metric_value_t)) {
      iree_hal_profile_device_metric_value_t value;
      std::memcpy(&value, bytes.data() + at, sizeof(value));
      values[value.metric_id] = value.value_bits;
    }
    return values;
  };
  IREE_ASSERT_OK(Begin(IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS));
  auto buffer = NewBuffer(1 << 20);
  IREE_ASSERT_OK(iree_hal_device_profiling_flush(device_));
  End();
  auto sources = sink_.Get<iree_hal_profile_device_metric_source_record_t>(
      IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_SOURCES);
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sink_
                .Get<iree_hal_profile_device_metric_descriptor_record_t>(
                    IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_DESCRIPTORS)
                .size(),
            sources[0].metric_count);
  auto before = values_of(0), after = values_of(1);
  ASSERT_EQ(before.size(), sources[0].metric_count);
  uint64_t used = IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_USED;
  EXPECT_GE(after[used], before[used] + (1 << 20));
  EXPECT_GT(before[IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_TOTAL], after[used]);
}

TEST_F(ProfilerTest, QueueEventsTellWhoWaitedOnTheDevice) {
  auto counted = NewBuffer(4);
  auto commands = NewCommandBuffer();
  IREE_ASSERT_OK(Count(commands, Ref(counted, 0, 4), {1, 1, 1}));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  IREE_ASSERT_OK(Begin(IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS));
  Fence start(device_), first(device_), second(device_);
  IREE_ASSERT_OK(Execute(commands, start, first));
  IREE_ASSERT_OK(Execute(commands, first, second));
  IREE_ASSERT_OK(start.Signal());
  IREE_ASSERT_OK(second.Wait());
  End();
  auto events =
      sink_.Get<iree_hal_profile_queue_event_t>(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].dependency_strategy,
            IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_SOFTWARE_DEFER);
  EXPECT_EQ(events[1].dependency_strategy,
            IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_DEVICE_BARRIER);
}

TEST_F(ProfilerTest, FiltersChooseDispatchesByName) {
  auto counted = NewBuffer(4), words = NewBuffer(64);
  auto commands = NewCommandBuffer();
  IREE_ASSERT_OK(Count(commands, Ref(counted, 0, 4), {1, 1, 1}));
  const uint32_t constants[] = {1, 1};
  IREE_ASSERT_OK(Scale(commands, Ref(words, 0, 64), Ref(words, 0, 64), constants, 2));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  options_.capture_filter.flags = IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN;
  options_.capture_filter.executable_function_pattern = IREE_SV("*scale*");
  IREE_ASSERT_OK(Begin(IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS));
  IREE_ASSERT_OK(ExecuteAndWait(commands));
  End();
  auto events = Dispatches();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(NameOf(events[0]), "module__scale$async.f32");
}

} // namespace
} // namespace bessemer::metal_driver
