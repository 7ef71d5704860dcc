#include "modules/dispatch_trace.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "iree/hal/profile_schema.h"
#include "iree/hal/profile_sink.h"
#include "modules/hal/status.h"

namespace bessemer::modules {
namespace {

std::string_view operationName(iree_hal_profile_queue_event_type_t type) {
  switch (type) {
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER:
    return "barrier";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH:
    return "dispatch";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE:
    return "execute";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY:
    return "copy";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL:
    return "fill";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE:
    return "update";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_READ:
    return "read";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_WRITE:
    return "write";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA:
    return "alloca";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA:
    return "dealloca";
  case IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_HOST_CALL:
    return "host call";
  default:
    return "operation";
  }
}

} // namespace

// The HAL may keep it beyond the trace: counted, and freed by the last reference.
struct DispatchTrace::Sink {
  iree_hal_resource_t resource;
  std::mutex mutex;
  std::vector<TracedWork> work; // times are device ticks until they are taken
  std::map<std::pair<uint64_t, uint32_t>, std::string> names; // by executable and function
  std::vector<std::pair<size_t, std::pair<uint64_t, uint32_t>>> unnamed;
  // What to add to a device's tick.
  int64_t ticksToNs = 0;

  static Sink* from(iree_hal_profile_sink_t* base) { return reinterpret_cast<Sink*>(base); }

  // Records of one kind follow one another; each says how long it is with what belongs to it.
  template <typename Record, typename Take>
  static void forEach(std::span<const iree_const_byte_span_t> parts, Take take) {
    for (const iree_const_byte_span_t& part : parts) {
      size_t at = 0;
      while (part.data_length - at >= sizeof(Record)) {
        Record record;
        std::memcpy(&record, part.data + at, sizeof(record));
        if (record.record_length < sizeof(Record) || record.record_length > part.data_length - at)
          break;
        take(record, part.data + at + sizeof(Record));
        at += record.record_length;
      }
    }
  }

  void write(const iree_hal_profile_chunk_metadata_t& chunk,
             std::span<const iree_const_byte_span_t> parts) {
    auto is = [&](iree_string_view_t type) {
      return iree_string_view_equal(chunk.content_type, type);
    };
    std::lock_guard lock(mutex);
    if (is(IREE_HAL_PROFILE_CONTENT_TYPE_CLOCK_CORRELATIONS)) {
      forEach<iree_hal_profile_clock_correlation_record_t>(parts, [&](const auto& record, auto*) {
        constexpr auto kNeeded = IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK |
                                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_SYSTEM_TIMESTAMP;
        if ((record.flags & kNeeded) == kNeeded)
          ticksToNs = static_cast<int64_t>(record.host_system_timestamp - record.device_tick);
      });
    } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_FUNCTIONS)) {
      forEach<iree_hal_profile_executable_function_record_t>(
          parts, [&](const auto& record, const uint8_t* name) {
            names[{record.executable_id, record.function_ordinal}].assign(
                reinterpret_cast<const char*>(name), record.name_length);
          });
    } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_DISPATCH_EVENTS)) {
      forEach<iree_hal_profile_dispatch_event_t>(parts, [&](const auto& event, auto*) {
        unnamed.push_back({work.size(), {event.executable_id, event.function_ordinal}});
        TracedWork& added = work.emplace_back();
        added.kind = TracedWork::Kind::Dispatch;
        added.queue = chunk.queue_ordinal;
        added.submission = event.submission_id;
        std::copy_n(event.workgroup_count, 3, added.threadgroups.begin());
        std::copy_n(event.workgroup_size, 3, added.threadgroupSize.begin());
        added.startNs = event.start_tick;
        added.endNs = event.end_tick;
      });
    } else if (is(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_DEVICE_EVENTS)) {
      forEach<iree_hal_profile_queue_device_event_t>(parts, [&](const auto& event, auto*) {
        TracedWork& added = work.emplace_back();
        added.name = operationName(event.type);
        added.queue = event.queue_ordinal;
        added.submission = event.submission_id;
        added.bytes = event.payload_length;
        added.startNs = event.start_tick;
        added.endNs = event.end_tick;
      });
    }
  }

  std::vector<TracedWork> take() {
    std::lock_guard lock(mutex);
    for (const auto& [index, function] : unnamed) {
      auto found = names.find(function);
      work[index].name = found != names.end() ? found->second : "(unknown)";
    }
    unnamed.clear();
    for (TracedWork& each : work) {
      each.startNs += static_cast<uint64_t>(ticksToNs);
      each.endNs += static_cast<uint64_t>(ticksToNs);
    }
    // What encloses others comes before them.
    std::ranges::sort(work, [](const TracedWork& a, const TracedWork& b) {
      return std::tie(a.startNs, b.endNs) < std::tie(b.startNs, a.endNs);
    });
    return std::exchange(work, {});
  }
};

DispatchTrace::DispatchTrace() : sink_(new Sink) {
  static constexpr iree_hal_profile_sink_vtable_t kVtable = {
      .destroy = [](iree_hal_profile_sink_t* base) { delete Sink::from(base); },
      .begin_session = [](iree_hal_profile_sink_t*,
                          const iree_hal_profile_chunk_metadata_t*) { return iree_ok_status(); },
      .write =
          [](iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* chunk,
             iree_host_size_t count, const iree_const_byte_span_t* parts) {
            Sink::from(base)->write(*chunk, {parts, count});
            return iree_ok_status();
          },
      .end_session = [](iree_hal_profile_sink_t*, const iree_hal_profile_chunk_metadata_t*,
                        iree_status_code_t) { return iree_ok_status(); },
  };
  iree_hal_resource_initialize(&kVtable, &sink_->resource);
}

DispatchTrace::~DispatchTrace() {
  if (recording_)
    (void)end();
}

void DispatchTrace::Release::operator()(Sink* sink) const {
  iree_hal_profile_sink_release(reinterpret_cast<iree_hal_profile_sink_t*>(sink));
}

vm::Result<std::unique_ptr<DispatchTrace>> DispatchTrace::begin(iree_hal_device_t* device) {
  std::unique_ptr<DispatchTrace> trace(new DispatchTrace);
  iree_hal_device_profiling_options_t options = {};
  options.data_families = IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
                          IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA |
                          IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS;
  options.sink = reinterpret_cast<iree_hal_profile_sink_t*>(trace->sink_.get());
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_profiling_begin(device, &options)));
  trace->device_ = vm::RefPtr<iree_hal_device_t>::share(device);
  trace->recording_ = true;
  return trace;
}

vm::Result<std::vector<TracedWork>> DispatchTrace::take() {
  if (recording_)
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_profiling_flush(device_.get())));
  return sink_->take();
}

vm::Result<std::vector<TracedWork>> DispatchTrace::end() {
  if (std::exchange(recording_, false))
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_profiling_end(device_.get())));
  return sink_->take();
}

} // namespace bessemer::modules
