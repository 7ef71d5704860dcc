#include "tools/device_timeline.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "iree/hal/profile_schema.h"
#include "iree/hal/profile_sink.h"
#include "modules/hal/status.h"

namespace bessemer::tools {

using modules::fromStatus;
using vm::Result;

namespace {

constexpr iree_hal_device_profiling_data_families_t kFamilies =
    IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA;

const char* nameOf(iree_hal_profile_queue_event_type_t type) {
  static constexpr const char* kNames[] = {"operation", "barrier", "dispatch", "execute",
                                           "copy",      "fill",    "update",   "read",
                                           "write",     "alloca",  "dealloca", "host call"};
  return type < std::size(kNames) ? kNames[type] : kNames[0];
}

// Records one after another; each begins with its length, which may be more than we know of.
template <class Record, class Use>
void forEachRecord(iree_const_byte_span_t bytes, Use use) {
  while (bytes.data_length >= sizeof(uint32_t)) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data, sizeof(length));
    if (length < sizeof(Record) || length > bytes.data_length)
      return;
    Record record;
    std::memcpy(&record, bytes.data, sizeof(record));
    use(record, std::string(reinterpret_cast<const char*>(bytes.data) + sizeof(Record),
                            length - sizeof(Record)));
    bytes.data += length;
    bytes.data_length -= length;
  }
}

} // namespace

// The C object that the device writes its records to.
struct DeviceTimeline::Sink {
  iree_hal_resource_t resource; // first: the HAL finds counts and vtable there
  DeviceTimeline* timeline;

  static Sink* from(iree_hal_profile_sink_t* sink) { return reinterpret_cast<Sink*>(sink); }
  iree_hal_profile_sink_t* get() { return reinterpret_cast<iree_hal_profile_sink_t*>(this); }

  static void destroy(iree_hal_profile_sink_t* sink) { delete from(sink); }
  static iree_status_t beginSession(iree_hal_profile_sink_t*,
                                    const iree_hal_profile_chunk_metadata_t*) {
    return iree_ok_status();
  }
  static iree_status_t write(iree_hal_profile_sink_t* sink,
                             const iree_hal_profile_chunk_metadata_t* metadata,
                             iree_host_size_t count, const iree_const_byte_span_t* parts) {
    std::vector<uint8_t> bytes;
    for (iree_host_size_t i = 0; i < count; ++i)
      bytes.insert(bytes.end(), parts[i].data, parts[i].data + parts[i].data_length);
    from(sink)->timeline->add(metadata->content_type, metadata->queue_ordinal,
                              iree_make_const_byte_span(bytes.data(), bytes.size()));
    return iree_ok_status();
  }
  static iree_status_t endSession(iree_hal_profile_sink_t*,
                                  const iree_hal_profile_chunk_metadata_t*, iree_status_code_t) {
    return iree_ok_status();
  }
  static constexpr iree_hal_profile_sink_vtable_t kVtable = {destroy, beginSession, write,
                                                             endSession};
};

Result<std::unique_ptr<DeviceTimeline>> DeviceTimeline::begin(iree_hal_device_t* device) {
  std::unique_ptr<DeviceTimeline> self(new DeviceTimeline(device));
  iree_hal_device_profiling_options_t options = {};
  options.data_families = kFamilies;
  options.sink = self->sink_->get();
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_profiling_begin(device, &options)));
  self->open_ = true;
  return self;
}

DeviceTimeline::DeviceTimeline(iree_hal_device_t* device) : device_(device) {
  iree_hal_device_retain(device);
  const iree_string_view_t id = iree_hal_device_id(device);
  name_.assign(id.data, id.size);
  sink_ = new Sink{{}, this};
  iree_hal_resource_initialize(&Sink::kVtable, &sink_->resource);
}

DeviceTimeline::~DeviceTimeline() {
  if (open_)
    iree_status_ignore(iree_hal_device_profiling_end(device_));
  iree_hal_profile_sink_release(sink_->get());
  iree_hal_device_release(device_);
}

void DeviceTimeline::add(iree_string_view_t content, uint32_t queue, iree_const_byte_span_t bytes) {
  std::lock_guard lock(mutex_);
  auto is = [&](iree_string_view_t type) { return iree_string_view_equal(content, type); };
  if (is(IREE_HAL_PROFILE_CONTENT_TYPE_CLOCK_CORRELATIONS)) {
    forEachRecord<iree_hal_profile_clock_correlation_record_t>(
        bytes, [&](const auto& record, const std::string&) {
          constexpr auto kNeeded = IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK |
                                   IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_SYSTEM_TIMESTAMP;
          // One pair of offsets for the whole session: spans must not move against each other.
          if ((record.flags & kNeeded) != kNeeded || std::exchange(correlated_, true))
            return;
          const auto monotonic = static_cast<int64_t>(record.host_system_timestamp);
          tick_offset_ = monotonic - static_cast<int64_t>(record.device_tick);
          host_offset_ = monotonic - (record.host_time_begin_ns +
                                      (record.host_time_end_ns - record.host_time_begin_ns) / 2);
        });
  } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_FUNCTIONS)) {
    forEachRecord<iree_hal_profile_executable_function_record_t>(
        bytes, [&](const auto& record, const std::string& name) {
          functions_[{record.executable_id, record.function_ordinal}] =
              name.substr(0, record.name_length);
        });
  } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS)) {
    forEachRecord<iree_hal_profile_queue_event_t>(
        bytes, [&](const auto& record, const std::string&) { submissions_.push_back(record); });
  } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_HOST_EXECUTION_EVENTS)) {
    forEachRecord<iree_hal_profile_host_execution_event_t>(bytes, [&](const auto& record,
                                                                      const std::string&) {
      host_executions_[record.submission_id] = {record.start_host_time_ns, record.end_host_time_ns};
    });
  } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_DEVICE_EVENTS)) {
    forEachRecord<iree_hal_profile_queue_device_event_t>(
        bytes, [&](const auto& record, const std::string&) { executions_.push_back(record); });
  } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_DISPATCH_EVENTS)) {
    forEachRecord<iree_hal_profile_dispatch_event_t>(
        bytes,
        [&](const auto& record, const std::string&) { dispatches_.emplace_back(queue, record); });
  }
}

int64_t DeviceTimeline::ofTick(uint64_t tick) const {
  return static_cast<int64_t>(tick) + tick_offset_;
}

int64_t DeviceTimeline::ofHostTime(int64_t time) const { return time + host_offset_; }

Result<std::vector<DeviceSpan>> DeviceTimeline::take() {
  if (open_)
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_profiling_flush(device_)));
  return takeSpans();
}

Result<std::vector<DeviceSpan>> DeviceTimeline::end() {
  if (std::exchange(open_, false))
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_profiling_end(device_)));
  return takeSpans();
}

std::vector<DeviceSpan> DeviceTimeline::takeSpans() {
  std::lock_guard lock(mutex_);
  std::vector<DeviceSpan> spans;
  for (const auto& event : submissions_) {
    DeviceSpan& span = spans.emplace_back();
    span.kind = DeviceSpan::Kind::Submission;
    span.name = nameOf(event.type);
    span.queue = event.queue_ordinal;
    span.submission = event.submission_id;
    span.waits = event.wait_count;
    span.signals = event.signal_count;
    span.operations = event.operation_count;
    span.bytes = event.payload_length;
    span.begin = ofHostTime(event.host_time_ns);
    span.ready = event.ready_host_time_ns ? ofHostTime(event.ready_host_time_ns) : 0;
    span.end = std::max(span.begin, span.ready);
    if (auto found = host_executions_.find(event.submission_id); found != host_executions_.end())
      span.end = std::max(span.end, ofHostTime(found->second.end));
  }
  for (const auto& event : executions_) {
    DeviceSpan& span = spans.emplace_back();
    span.kind = DeviceSpan::Kind::Execution;
    span.name = nameOf(event.type);
    span.queue = event.queue_ordinal;
    span.submission = event.submission_id;
    span.operations = event.operation_count;
    span.bytes = event.payload_length;
    span.begin = ofTick(event.start_tick);
    span.end = ofTick(event.end_tick);
  }
  for (const auto& [queue, event] : dispatches_) {
    DeviceSpan& span = spans.emplace_back();
    span.kind = DeviceSpan::Kind::Dispatch;
    auto found = functions_.find({event.executable_id, event.function_ordinal});
    span.name = found != functions_.end() ? found->second : "dispatch";
    span.queue = queue;
    span.submission = event.submission_id;
    std::copy_n(event.workgroup_count, 3, span.threadgroups.begin());
    std::copy_n(event.workgroup_size, 3, span.threadgroup_size.begin());
    span.begin = ofTick(event.start_tick);
    span.end = ofTick(event.end_tick);
  }
  submissions_.clear();
  host_executions_.clear();
  executions_.clear();
  dispatches_.clear();
  std::sort(spans.begin(), spans.end(), [](const DeviceSpan& left, const DeviceSpan& right) {
    return std::tuple(left.kind, left.begin, -left.end) <
           std::tuple(right.kind, right.begin, -right.end);
  });
  return spans;
}

std::vector<size_t> nestedTracks(const std::vector<std::pair<int64_t, int64_t>>& spans) {
  std::vector<std::vector<int64_t>> open; // by track: the ends of what encloses, outermost first
  std::vector<size_t> tracks;
  for (auto [begin, end] : spans) {
    size_t track = 0;
    for (;; ++track) {
      if (track == open.size())
        open.emplace_back();
      std::vector<int64_t>& ends = open[track];
      while (!ends.empty() && ends.back() <= begin)
        ends.pop_back();
      if (ends.empty() || ends.back() >= end)
        break;
    }
    open[track].push_back(end);
    tracks.push_back(track);
  }
  return tracks;
}

} // namespace bessemer::tools
