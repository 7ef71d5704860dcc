#include "hal/drivers/host/profile_session.h"

#include <atomic>
#include <utility>

namespace bessemer::hal::host {
namespace {

constexpr iree_hal_device_profiling_data_families_t kRecorded =
    IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS;
constexpr uint32_t kDeviceOrdinal = 0;

} // namespace

iree_status_t ProfileSession::begin(const iree_hal_device_profiling_options_t& options,
                                    uint32_t queueCount, iree_string_view_t deviceName,
                                    iree_allocator_t hostAllocator,
                                    std::shared_ptr<ProfileSession>* out_session) {
  static std::atomic<uint64_t> nextSessionId{1};
  if (options.data_families & ~kRecorded) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "the host device records queue and host execution events only");
  }
  std::shared_ptr<ProfileSession> session(new ProfileSession());
  session->hostAllocator_ = hostAllocator;
  session->id_ = nextSessionId.fetch_add(1);
  IREE_RETURN_IF_ERROR(iree_hal_device_profiling_options_clone(
      &options, hostAllocator, &session->options_, &session->storage_));

  iree_hal_profile_chunk_metadata_t metadata =
      session->metadata(IREE_HAL_PROFILE_CONTENT_TYPE_SESSION);
  metadata.name = deviceName;
  IREE_RETURN_IF_ERROR(iree_hal_profile_sink_begin_session(session->options_.sink, &metadata));

  std::vector<iree_hal_profile_device_record_t> devices = {
      iree_hal_profile_device_record_default()};
  devices[0].physical_device_ordinal = kDeviceOrdinal;
  devices[0].queue_count = queueCount;
  IREE_RETURN_IF_ERROR(session->write(IREE_HAL_PROFILE_CONTENT_TYPE_DEVICES, devices));
  std::vector<iree_hal_profile_queue_record_t> queues;
  for (uint32_t i = 0; i < queueCount; ++i) {
    queues.push_back(iree_hal_profile_queue_record_default());
    queues.back().physical_device_ordinal = kDeviceOrdinal;
    queues.back().queue_ordinal = i;
    queues.back().stream_id = i + 1;
  }
  IREE_RETURN_IF_ERROR(session->write(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUES, queues));
  *out_session = std::move(session);
  return iree_ok_status();
}

ProfileSession::~ProfileSession() {
  iree_hal_device_profiling_options_storage_free(storage_, hostAllocator_);
}

iree_hal_profile_chunk_metadata_t ProfileSession::metadata(iree_string_view_t contentType) const {
  iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default();
  metadata.content_type = contentType;
  metadata.session_id = id_;
  metadata.physical_device_ordinal = kDeviceOrdinal;
  return metadata;
}

template <typename Record>
iree_status_t ProfileSession::write(iree_string_view_t contentType,
                                    const std::vector<Record>& records) {
  if (records.empty())
    return iree_ok_status();
  const iree_hal_profile_chunk_metadata_t chunk = metadata(contentType);
  const iree_const_byte_span_t bytes =
      iree_make_const_byte_span(records.data(), records.size() * sizeof(Record));
  return iree_hal_profile_sink_write(options_.sink, &chunk, 1, &bytes);
}

void ProfileSession::record(const Work& work, const WorkTimes& times, uint32_t queue,
                            size_t waitCount, size_t signalCount, iree_status_code_t code) {
  std::lock_guard lock(mutex_);
  if (!storage_ ||
      !iree_hal_profile_capture_filter_matches_location(
          &options_.capture_filter, work.commandBufferId, UINT32_MAX, kDeviceOrdinal, queue)) {
    return;
  }
  const uint64_t submission = nextId_++;
  if (iree_hal_device_profiling_options_requests_data(
          &options_, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)) {
    iree_hal_profile_queue_event_t event = iree_hal_profile_queue_event_default();
    event.type = work.type;
    event.dependency_strategy = waitCount
                                    ? IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_SOFTWARE_DEFER
                                    : IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_INLINE;
    event.event_id = nextId_++;
    event.host_time_ns = times.submitted;
    event.ready_host_time_ns = times.ready;
    event.submission_id = submission;
    event.command_buffer_id = work.commandBufferId;
    event.stream_id = queue + 1;
    event.physical_device_ordinal = kDeviceOrdinal;
    event.queue_ordinal = queue;
    event.wait_count = static_cast<uint32_t>(waitCount);
    event.signal_count = static_cast<uint32_t>(signalCount);
    event.operation_count = 1;
    event.payload_length = work.payloadLength;
    queueEvents_.push_back(event);
  }
  // Work that a failed wait kept from starting did not execute.
  if (times.started && iree_hal_device_profiling_options_requests_data(
                           &options_, IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS)) {
    iree_hal_profile_host_execution_event_t event = iree_hal_profile_host_execution_event_default();
    event.type = work.type;
    event.status_code = code;
    event.event_id = nextId_++;
    event.submission_id = submission;
    event.command_buffer_id = work.commandBufferId;
    event.stream_id = queue + 1;
    event.physical_device_ordinal = kDeviceOrdinal;
    event.queue_ordinal = queue;
    event.start_host_time_ns = times.started;
    event.end_host_time_ns = times.ended;
    event.payload_length = work.payloadLength;
    event.operation_count = 1;
    hostEvents_.push_back(event);
  }
}

iree_status_t ProfileSession::flush() {
  std::vector<iree_hal_profile_queue_event_t> queueEvents;
  std::vector<iree_hal_profile_host_execution_event_t> hostEvents;
  {
    std::lock_guard lock(mutex_);
    queueEvents.swap(queueEvents_);
    hostEvents.swap(hostEvents_);
  }
  IREE_RETURN_IF_ERROR(write(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS, queueEvents));
  return write(IREE_HAL_PROFILE_CONTENT_TYPE_HOST_EXECUTION_EVENTS, hostEvents);
}

iree_status_t ProfileSession::end() {
  iree_status_t status = flush();
  const iree_hal_profile_chunk_metadata_t chunk = metadata(IREE_HAL_PROFILE_CONTENT_TYPE_SESSION);
  status = iree_status_join(
      status, iree_hal_profile_sink_end_session(options_.sink, &chunk, iree_status_code(status)));
  // Operations may hold the session longer than the caller keeps the sink.
  std::lock_guard lock(mutex_);
  options_ = {};
  iree_hal_device_profiling_options_storage_free(std::exchange(storage_, nullptr), hostAllocator_);
  return status;
}

} // namespace bessemer::hal::host
