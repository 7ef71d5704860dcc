#include "drivers/metal/profiler.h"

#include <ctime>

namespace bessemer::metal_driver {
namespace {

constexpr iree_hal_device_profiling_data_families_t kSupported =
    IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA;

std::atomic<uint64_t> g_last_session_id{0};

uint64_t MonotonicNanos() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

/// The set whose samples are timestamps, if encoders can be sampled.
MTL::CounterSet* FindTimestampSet(MTL::Device* device) {
  if (!device->supportsCounterSampling(MTL::CounterSamplingPointAtStageBoundary))
    return nullptr;
  NS::Array* sets = device->counterSets();
  for (NS::UInteger i = 0; sets && i < sets->count(); ++i) {
    auto* set = sets->object<MTL::CounterSet>(i);
    if (std::string_view(set->name()->utf8String()) == "timestamp")
      return set;
  }
  return nullptr;
}

iree_hal_profile_command_operation_type_t OperationTypeOf(CommandType type) {
  switch (type) {
  case CommandType::kDispatch:
    return IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH;
  case CommandType::kFill:
    return IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_FILL;
  case CommandType::kCopy:
    return IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_COPY;
  case CommandType::kUpdate:
    return IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_UPDATE;
  case CommandType::kPushDebugGroup:
  case CommandType::kPopDebugGroup:
    return IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_PROFILE_MARKER;
  default:
    return IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER;
  }
}

} // namespace

iree_status_t Profiler::Begin(MTL::Device* device, uint32_t physical_device_ordinal,
                              uint32_t queue_count,
                              const iree_hal_device_profiling_options_t& options,
                              iree_allocator_t host_allocator,
                              std::shared_ptr<Profiler>* out_profiler) {
  if (options.data_families & ~kSupported) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "Metal devices give no profiling data of kinds 0x%" PRIx64,
                            options.data_families & ~kSupported);
  }
  AutoreleaseScope pool;
  std::shared_ptr<Profiler> self(new Profiler(device, physical_device_ordinal));
  self->host_allocator_ = host_allocator;
  IREE_RETURN_IF_ERROR(iree_hal_device_profiling_options_clone(&options, host_allocator,
                                                               &self->options_, &self->storage_));
  if (options.data_families & IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS)
    self->timestamp_set_ = NS::RetainPtr(FindTimestampSet(device));
  self->session_id_ = ++g_last_session_id;
  self->device_events_.resize(queue_count);
  self->dispatch_events_.resize(queue_count);
  device->sampleTimestamps(&self->first_.cpu, &self->first_.gpu);
  if (!self->options_.sink) {
    *out_profiler = std::move(self);
    return iree_ok_status();
  }

  auto session = self->Metadata(IREE_HAL_PROFILE_CONTENT_TYPE_SESSION);
  IREE_RETURN_IF_ERROR(iree_hal_profile_sink_begin_session(self->options_.sink, &session));
  iree_hal_profile_device_record_t device_record = iree_hal_profile_device_record_default();
  device_record.physical_device_ordinal = physical_device_ordinal;
  device_record.queue_count = queue_count;
  IREE_RETURN_IF_ERROR(
      self->Write(IREE_HAL_PROFILE_CONTENT_TYPE_DEVICES, &device_record, sizeof(device_record)));
  std::vector<iree_hal_profile_queue_record_t> queues(queue_count,
                                                      iree_hal_profile_queue_record_default());
  for (uint32_t i = 0; i < queue_count; ++i) {
    queues[i].physical_device_ordinal = physical_device_ordinal;
    queues[i].queue_ordinal = i;
    queues[i].stream_id = i + 1;
  }
  IREE_RETURN_IF_ERROR(self->WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUES, queues));
  IREE_RETURN_IF_ERROR(self->WriteCorrelation());
  *out_profiler = std::move(self);
  return iree_ok_status();
}

Profiler::~Profiler() { iree_hal_device_profiling_options_storage_free(storage_, host_allocator_); }

iree_hal_profile_chunk_metadata_t Profiler::Metadata(iree_string_view_t content_type) const {
  iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default();
  metadata.content_type = content_type;
  metadata.name = IREE_SV("metal");
  metadata.session_id = session_id_;
  metadata.physical_device_ordinal = ordinal_;
  return metadata;
}

iree_status_t Profiler::Write(iree_string_view_t content_type, const void* data,
                              iree_host_size_t size, uint32_t queue_ordinal) {
  if (size == 0)
    return iree_ok_status();
  auto metadata = Metadata(content_type);
  if (queue_ordinal != UINT32_MAX) {
    metadata.queue_ordinal = queue_ordinal;
    metadata.stream_id = queue_ordinal + 1;
  }
  iree_const_byte_span_t span = iree_make_const_byte_span(data, size);
  return iree_hal_profile_sink_write(options_.sink, &metadata, 1, &span);
}

template <class T>
iree_status_t Profiler::WriteAll(iree_string_view_t content_type, std::vector<T>& records) {
  std::vector<T> taken = std::move(records);
  records.clear();
  return Write(content_type, taken.data(), taken.size() * sizeof(T));
}

iree_status_t Profiler::WriteCorrelation() {
  iree_hal_profile_clock_correlation_record_t record =
      iree_hal_profile_clock_correlation_record_default();
  record.host_time_begin_ns = iree_time_now();
  device_->sampleTimestamps(&last_.cpu, &last_.gpu);
  record.host_system_timestamp = MonotonicNanos();
  record.host_time_end_ns = iree_time_now();
  record.flags = IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_CPU_TIMESTAMP |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_SYSTEM_TIMESTAMP |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_TIME_BRACKET;
  record.physical_device_ordinal = ordinal_;
  record.sample_id = ++last_sample_id_;
  record.device_tick = last_.cpu;
  record.host_cpu_timestamp_ns = last_.cpu;
  record.host_system_frequency_hz = 1000000000;
  return Write(IREE_HAL_PROFILE_CONTENT_TYPE_CLOCK_CORRELATIONS, &record, sizeof(record));
}

uint64_t Profiler::ToTick(uint64_t gpu_timestamp) const {
  // A line through the session's first moment and now.
  Correlation now;
  device_->sampleTimestamps(&now.cpu, &now.gpu);
  double scale = now.gpu > first_.gpu ? static_cast<double>(now.cpu - first_.cpu) /
                                            static_cast<double>(now.gpu - first_.gpu)
                                      : 1.0;
  double offset = (static_cast<double>(gpu_timestamp) - static_cast<double>(first_.gpu)) * scale;
  return first_.cpu + static_cast<uint64_t>(std::max(offset, 0.0));
}

MetalPtr<MTL::CounterSampleBuffer> Profiler::NewSampleBuffer(NS::UInteger count) {
  if (!timestamp_set_)
    return {};
  auto descriptor = NS::TransferPtr(MTL::CounterSampleBufferDescriptor::alloc()->init());
  descriptor->setCounterSet(timestamp_set_.get());
  descriptor->setStorageMode(MTL::StorageModeShared);
  descriptor->setSampleCount(count);
  NS::Error* error = nullptr;
  return NS::TransferPtr(device_->newCounterSampleBuffer(descriptor.get(), &error));
}

void Profiler::Record(const Operation& operation) {
  std::lock_guard lock(mutex_);
  if (Wants(IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)) {
    iree_hal_profile_queue_event_t event = iree_hal_profile_queue_event_default();
    event.type = operation.info.type;
    event.dependency_strategy = operation.wait_count
                                    ? IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_SOFTWARE_DEFER
                                    : IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_NONE;
    event.event_id = ++last_event_id_;
    event.host_time_ns = operation.submitted;
    event.ready_host_time_ns = operation.ready;
    event.submission_id = operation.submission_id;
    event.command_buffer_id = operation.info.command_buffer_id;
    event.stream_id = operation.queue_ordinal + 1;
    event.physical_device_ordinal = ordinal_;
    event.queue_ordinal = operation.queue_ordinal;
    event.wait_count = operation.wait_count;
    event.signal_count = operation.signal_count;
    event.operation_count = operation.info.operation_count;
    event.payload_length = operation.info.payload_length;
    queue_events_.push_back(event);
  }
  if (Wants(IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS) && operation.ready) {
    iree_hal_profile_host_execution_event_t event = iree_hal_profile_host_execution_event_default();
    event.type = operation.info.type;
    event.flags = operation.info.command_buffer_id
                      ? IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_COMMAND_BUFFER
                      : IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_NONE;
    event.status_code = operation.status_code;
    event.event_id = ++last_event_id_;
    event.submission_id = operation.submission_id;
    event.command_buffer_id = operation.info.command_buffer_id;
    event.executable_id = operation.info.executable_id;
    event.function_ordinal = operation.info.function_ordinal;
    event.stream_id = operation.queue_ordinal + 1;
    event.physical_device_ordinal = ordinal_;
    event.queue_ordinal = operation.queue_ordinal;
    event.start_host_time_ns = operation.ready;
    event.end_host_time_ns = std::max(operation.ended, operation.ready);
    event.payload_length = operation.info.payload_length;
    event.operation_count = operation.info.operation_count;
    host_events_.push_back(event);
  }
}

void Profiler::RecordDeviceTime(const Operation& operation, double start, double end) {
  if (!Wants(IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS))
    return;
  std::lock_guard lock(mutex_);
  iree_hal_profile_queue_device_event_t event = iree_hal_profile_queue_device_event_default();
  event.type = operation.info.type;
  event.event_id = ++last_event_id_;
  event.submission_id = operation.submission_id;
  event.command_buffer_id = operation.info.command_buffer_id;
  event.stream_id = operation.queue_ordinal + 1;
  event.payload_length = operation.info.payload_length;
  event.physical_device_ordinal = ordinal_;
  event.queue_ordinal = operation.queue_ordinal;
  event.operation_count = operation.info.operation_count;
  event.start_tick = ToTick(start);
  event.end_tick = std::max(ToTick(end), event.start_tick);
  device_events_[operation.queue_ordinal].push_back(event);
}

void Profiler::Describe(const CommandList& list, const iree_hal_command_buffer_t* command_buffer) {
  if (!Wants(IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
             IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA))
    return;
  std::lock_guard lock(mutex_);
  uint64_t command_buffer_id =
      command_buffer ? iree_hal_command_buffer_profile_id(command_buffer) : 0;
  // Ids of command buffers and of executables are counted apart; a bit tells them.
  bool describes_commands =
      command_buffer_id && described_.insert(command_buffer_id << 1 | 1).second;
  if (describes_commands) {
    auto record = iree_hal_profile_command_buffer_record_default();
    record.command_buffer_id = command_buffer_id;
    record.mode = iree_hal_command_buffer_mode(command_buffer);
    record.command_categories = iree_hal_command_buffer_allowed_categories(command_buffer);
    record.queue_affinity = iree_hal_command_buffer_queue_affinity(command_buffer);
    record.physical_device_ordinal = ordinal_;
    command_buffers_.push_back(record);
  }
  for (const Command* command = list.first(); command; command = command->next) {
    const DispatchCommand* dispatch = command->type == CommandType::kDispatch
                                          ? static_cast<const DispatchCommand*>(command)
                                          : nullptr;
    if (describes_commands) {
      auto record = iree_hal_profile_command_operation_record_default();
      record.type = OperationTypeOf(command->type);
      record.command_index = command->index;
      record.command_buffer_id = command_buffer_id;
      if (command->type == CommandType::kBarrier)
        record.flags = IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_EXECUTION_BARRIER;
      if (dispatch) {
        if (dispatch->is_indirect)
          record.flags |= IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_INDIRECT_PARAMETERS;
        record.executable_id = dispatch->executable_id;
        record.function_ordinal = dispatch->function_ordinal;
        record.binding_count = dispatch->binding_count;
        std::copy_n(dispatch->threadgroup_count, 3, record.workgroup_count);
        std::copy_n(dispatch->threadgroup_size, 3, record.workgroup_size);
      }
      command_operations_.push_back(record);
    }
    if (!dispatch || !described_.insert(dispatch->executable_id << 1).second)
      continue;
    auto functions = FunctionsOf(dispatch->executable);
    auto executable = iree_hal_profile_executable_record_default();
    executable.executable_id = dispatch->executable_id;
    executable.function_count = static_cast<uint32_t>(functions.size());
    executables_.push_back(executable);
    for (size_t i = 0; i < functions.size(); ++i) {
      auto record = iree_hal_profile_executable_function_record_default();
      record.record_length += static_cast<uint32_t>(functions[i].name.size());
      record.executable_id = dispatch->executable_id;
      record.function_ordinal = static_cast<uint32_t>(i);
      record.constant_count = functions[i].constant_count;
      record.binding_count = functions[i].binding_count;
      std::copy_n(functions[i].threadgroup_size, 3, record.workgroup_size);
      record.name_length = static_cast<uint32_t>(functions[i].name.size());
      auto* bytes = reinterpret_cast<const uint8_t*>(&record);
      functions_.insert(functions_.end(), bytes, bytes + sizeof(record));
      functions_.insert(functions_.end(), functions[i].name.begin(), functions[i].name.end());
    }
  }
}

bool Profiler::Matches(const DispatchCommand& dispatch, uint64_t command_buffer_id,
                       uint32_t queue_ordinal) const {
  const iree_hal_profile_capture_filter_t& filter = options_.capture_filter;
  if (!iree_hal_profile_capture_filter_matches_location(&filter, command_buffer_id, dispatch.index,
                                                        ordinal_, queue_ordinal))
    return false;
  return !(filter.flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN) ||
         iree_string_view_match_pattern(ToIree(dispatch.function->name),
                                        filter.executable_function_pattern);
}

void Profiler::RecordDispatch(const Operation& operation, const DispatchCommand& dispatch,
                              uint64_t start_tick, uint64_t end_tick) {
  std::lock_guard lock(mutex_);
  auto event = iree_hal_profile_dispatch_event_default();
  event.event_id = ++last_event_id_;
  event.submission_id = operation.submission_id;
  event.executable_id = dispatch.executable_id;
  event.function_ordinal = dispatch.function_ordinal;
  if (operation.info.command_buffer_id) {
    event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_COMMAND_BUFFER;
    event.command_buffer_id = operation.info.command_buffer_id;
    event.command_index = dispatch.index;
  }
  if (dispatch.is_indirect) {
    // The counts are in memory that may have changed since.
    event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_INDIRECT_PARAMETERS;
  } else {
    std::copy_n(dispatch.threadgroup_count, 3, event.workgroup_count);
  }
  std::copy_n(dispatch.threadgroup_size, 3, event.workgroup_size);
  event.start_tick = start_tick;
  event.end_tick = std::max(start_tick, end_tick);
  dispatch_events_[operation.queue_ordinal].push_back(event);
}

iree_status_t Profiler::Flush() {
  std::lock_guard lock(mutex_);
  if (!options_.sink)
    return iree_ok_status();
  AutoreleaseScope pool;
  IREE_RETURN_IF_ERROR(WriteCorrelation());
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLES, executables_));
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_FUNCTIONS, functions_));
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_COMMAND_BUFFERS, command_buffers_));
  IREE_RETURN_IF_ERROR(
      WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_COMMAND_OPERATIONS, command_operations_));
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS, queue_events_));
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_HOST_EXECUTION_EVENTS, host_events_));
  for (uint32_t queue = 0; queue < device_events_.size(); ++queue) {
    auto device_events = std::move(device_events_[queue]);
    auto dispatch_events = std::move(dispatch_events_[queue]);
    device_events_[queue].clear();
    dispatch_events_[queue].clear();
    IREE_RETURN_IF_ERROR(Write(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_DEVICE_EVENTS,
                               device_events.data(),
                               device_events.size() * sizeof(device_events[0]), queue));
    IREE_RETURN_IF_ERROR(Write(IREE_HAL_PROFILE_CONTENT_TYPE_DISPATCH_EVENTS,
                               dispatch_events.data(),
                               dispatch_events.size() * sizeof(dispatch_events[0]), queue));
  }
  return iree_ok_status();
}

iree_status_t Profiler::End() {
  if (!options_.sink)
    return iree_ok_status();
  iree_status_t status = Flush();
  auto session = Metadata(IREE_HAL_PROFILE_CONTENT_TYPE_SESSION);
  return iree_status_join(
      status, iree_hal_profile_sink_end_session(options_.sink, &session, iree_status_code(status)));
}

} // namespace bessemer::metal_driver
