#include "drivers/metal/profiler.h"

#include <chrono>
#include <cstring>

namespace bessemer::metal_driver {
namespace {

constexpr iree_hal_device_profiling_data_families_t kSupported =
    IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
    IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
    IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA |
    IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS |
    IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES;

/// What MTLDevice tells of itself while it runs.
constexpr uint64_t kMetrics[] = {IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_USED,
                                 IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_TOTAL};
constexpr uint64_t kMetricSource = 1;

std::atomic<uint64_t> g_last_session_id{0};

uint64_t SteadyNanos() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// A record and what follows it, of which its length tells.
template <class T>
void AppendRecord(std::vector<uint8_t>& records, T record,
                  std::initializer_list<std::string_view> trailing) {
  for (std::string_view part : trailing)
    record.record_length += static_cast<uint32_t>(part.size());
  auto* bytes = reinterpret_cast<const uint8_t*>(&record);
  records.insert(records.end(), bytes, bytes + sizeof(record));
  for (std::string_view part : trailing)
    records.insert(records.end(), part.begin(), part.end());
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
  if (self->TimesDispatches()) {
    IREE_RETURN_IF_ERROR(CounterSets::Select(
        device, {options.counter_sets, options.counter_set_count}, &self->counter_sets_));
  }
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
  iree_status_t status = self->WriteDevice(queue_count);
  if (!iree_status_is_ok(status)) {
    return iree_status_join(status, iree_hal_profile_sink_end_session(self->options_.sink, &session,
                                                                      iree_status_code(status)));
  }
  *out_profiler = std::move(self);
  return iree_ok_status();
}

iree_status_t Profiler::WriteDevice(uint32_t queue_count) {
  iree_hal_profile_device_record_t device_record = iree_hal_profile_device_record_default();
  device_record.physical_device_ordinal = ordinal_;
  device_record.queue_count = queue_count;
  IREE_RETURN_IF_ERROR(
      Write(IREE_HAL_PROFILE_CONTENT_TYPE_DEVICES, &device_record, sizeof(device_record)));
  std::vector<iree_hal_profile_queue_record_t> queues(queue_count,
                                                      iree_hal_profile_queue_record_default());
  for (uint32_t i = 0; i < queue_count; ++i) {
    queues[i].physical_device_ordinal = ordinal_;
    queues[i].queue_ordinal = i;
    queues[i].stream_id = i + 1;
  }
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_QUEUES, queues));
  IREE_RETURN_IF_ERROR(WriteCorrelation());
  IREE_RETURN_IF_ERROR(WriteCounterSets());
  IREE_RETURN_IF_ERROR(WriteMetricSource());
  return WriteMetrics();
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
  Clock now;
  device_->sampleTimestamps(&now.cpu, &now.gpu);
  record.host_system_timestamp = SteadyNanos();
  record.host_time_end_ns = iree_time_now();
  record.flags = IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_CPU_TIMESTAMP |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_SYSTEM_TIMESTAMP |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_TIME_BRACKET;
  record.physical_device_ordinal = ordinal_;
  record.sample_id = ++last_sample_id_;
  record.device_tick = now.cpu;
  record.host_cpu_timestamp_ns = now.cpu;
  record.host_system_frequency_hz = 1000000000;
  return Write(IREE_HAL_PROFILE_CONTENT_TYPE_CLOCK_CORRELATIONS, &record, sizeof(record));
}

iree_status_t Profiler::WriteCounterSets() {
  std::vector<uint8_t> sets, counters;
  for (const CounterSets::Set& set : counter_sets()) {
    if (set.counters.empty())
      continue;
    auto set_record = iree_hal_profile_counter_set_record_default();
    set_record.counter_set_id = CounterSetId(set);
    set_record.physical_device_ordinal = ordinal_;
    set_record.counter_count = static_cast<uint32_t>(set.counters.size());
    set_record.sample_value_count = set_record.counter_count;
    set_record.name_length = static_cast<uint32_t>(set.name.size());
    AppendRecord(sets, set_record, {set.name});
    for (uint32_t i = 0; i < set_record.counter_count; ++i) {
      auto record = iree_hal_profile_counter_record_default();
      record.unit = set.name == "stageutilization" ? IREE_HAL_PROFILE_COUNTER_UNIT_CYCLES
                                                   : IREE_HAL_PROFILE_COUNTER_UNIT_COUNT;
      record.physical_device_ordinal = ordinal_;
      record.counter_set_id = set_record.counter_set_id;
      record.counter_ordinal = i;
      record.sample_value_offset = i;
      record.sample_value_count = 1;
      record.name_length = static_cast<uint32_t>(set.counters[i].name.size());
      AppendRecord(counters, record, {set.counters[i].name});
    }
  }
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SETS, sets));
  return WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_COUNTERS, counters);
}

iree_status_t Profiler::WriteMetricSource() {
  if (!Wants(IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS))
    return iree_ok_status();
  std::string_view name = device_->name()->utf8String();
  auto source = iree_hal_profile_device_metric_source_record_default();
  source.source_id = kMetricSource;
  source.physical_device_ordinal = ordinal_;
  source.device_class = IREE_HAL_PROFILE_DEVICE_CLASS_GPU;
  source.metric_count = std::size(kMetrics);
  source.name_length = static_cast<uint32_t>(name.size());
  std::vector<uint8_t> sources, descriptors;
  AppendRecord(sources, source, {name});
  for (uint64_t id : kMetrics) {
    const auto* metric = iree_hal_profile_builtin_metric_descriptor_lookup(id);
    auto record = iree_hal_profile_device_metric_descriptor_record_default();
    record.source_id = kMetricSource;
    record.metric_id = id;
    record.unit = metric->unit;
    record.value_kind = metric->value_kind;
    record.semantic = metric->semantic;
    record.plot_hint = metric->plot_hint;
    record.name_length = static_cast<uint32_t>(metric->name.size);
    record.description_length = static_cast<uint32_t>(metric->description.size);
    AppendRecord(descriptors, record, {ToStd(metric->name), ToStd(metric->description)});
  }
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_SOURCES, sources));
  return WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_DESCRIPTORS, descriptors);
}

iree_status_t Profiler::WriteMetrics() {
  if (!Wants(IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS))
    return iree_ok_status();
  auto sample = iree_hal_profile_device_metric_sample_record_default();
  sample.sample_id = ++last_sample_id_;
  sample.source_id = kMetricSource;
  sample.host_time_begin_ns = iree_time_now();
  iree_hal_profile_device_metric_value_t values[] = {
      {kMetrics[0], device_->currentAllocatedSize()},
      {kMetrics[1], device_->recommendedMaxWorkingSetSize()},
  };
  sample.host_time_end_ns = iree_time_now();
  sample.physical_device_ordinal = ordinal_;
  sample.value_count = std::size(values);
  std::vector<uint8_t> samples;
  AppendRecord(samples, sample, {{reinterpret_cast<const char*>(values), sizeof(values)}});
  return WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_SAMPLES, samples);
}

Profiler::Clock Profiler::SampleClock() const {
  // A line through the session's first moment and now.
  Clock now;
  device_->sampleTimestamps(&now.cpu, &now.gpu);
  Clock clock = first_;
  if (now.gpu > first_.gpu) {
    clock.ticks_per_sample =
        static_cast<double>(now.cpu - first_.cpu) / static_cast<double>(now.gpu - first_.gpu);
  }
  return clock;
}

uint64_t Profiler::Clock::ToTick(uint64_t sample) const {
  double ticks = (static_cast<double>(sample) - static_cast<double>(gpu)) * ticks_per_sample;
  return cpu + static_cast<uint64_t>(std::max(ticks, 0.0));
}

uint64_t Profiler::CounterSetId(const CounterSets::Set& set) const {
  return static_cast<uint64_t>(&set - counter_sets().data()) + 1;
}

void Profiler::Record(const Operation& operation) {
  std::lock_guard lock(mutex_);
  if (Wants(IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)) {
    iree_hal_profile_queue_event_t event = iree_hal_profile_queue_event_default();
    event.type = operation.info.type;
    event.dependency_strategy =
        operation.waits_on_device ? IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_DEVICE_BARRIER
        : operation.wait_count    ? IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_SOFTWARE_DEFER
                                  : IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_NONE;
    event.event_id = ++last_event_id_;
    event.host_time_ns = operation.submitted;
    event.ready_host_time_ns = operation.ready;
    event.submission_id = operation.submission_id;
    event.command_buffer_id = operation.info.command_buffer_id;
    event.allocation_id = operation.info.allocation_id;
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
    event.allocation_id = operation.info.allocation_id;
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
  if (!TimesDispatches() && !Wants(IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA))
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
      record.executable_id = dispatch->executable_id;
      record.function_ordinal = static_cast<uint32_t>(i);
      record.constant_count = functions[i].constant_count;
      record.binding_count = functions[i].binding_count;
      std::copy_n(functions[i].threadgroup_size, 3, record.workgroup_size);
      record.name_length = static_cast<uint32_t>(functions[i].name.size());
      AppendRecord(functions_, record, {functions[i].name});
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

uint64_t Profiler::RecordDispatch(const Dispatch& dispatch) {
  const Operation& operation = *dispatch.operation;
  const DispatchCommand& command = *dispatch.command;
  std::lock_guard lock(mutex_);
  uint64_t event_id = ++last_event_id_;
  if (!Wants(IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS))
    return event_id;
  auto event = iree_hal_profile_dispatch_event_default();
  event.event_id = event_id;
  event.submission_id = operation.submission_id;
  event.executable_id = command.executable_id;
  event.function_ordinal = command.function_ordinal;
  if (operation.info.command_buffer_id) {
    event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_COMMAND_BUFFER;
    event.command_buffer_id = operation.info.command_buffer_id;
    event.command_index = command.index;
  }
  if (command.is_indirect) {
    // The counts are in memory that may have changed since.
    event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_INDIRECT_PARAMETERS;
  } else {
    std::copy_n(command.threadgroup_count, 3, event.workgroup_count);
  }
  std::copy_n(command.threadgroup_size, 3, event.workgroup_size);
  event.start_tick = dispatch.start_tick;
  event.end_tick = std::max(dispatch.start_tick, dispatch.end_tick);
  dispatch_events_[operation.queue_ordinal].push_back(event);
  return event_id;
}

void Profiler::RecordCounters(const CounterSets::Set& set, const Dispatch& dispatch,
                              uint64_t dispatch_event_id, const uint64_t* start,
                              const uint64_t* end) {
  const DispatchCommand* command = dispatch.command;
  if (set.counters.empty() || !start || !end ||
      !Wants(command ? IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES
                     : IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES))
    return;
  const Operation& operation = *dispatch.operation;
  auto sample = iree_hal_profile_counter_sample_record_default();
  if (command) {
    sample.scope = IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DISPATCH;
    sample.flags = IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DISPATCH_EVENT;
    sample.dispatch_event_id = dispatch_event_id;
    sample.executable_id = command->executable_id;
    sample.function_ordinal = command->function_ordinal;
    if (operation.info.command_buffer_id)
      sample.command_index = command->index;
  } else {
    sample.scope = IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DEVICE_TIME_RANGE;
  }
  sample.flags |= IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DEVICE_TICK_RANGE;
  sample.counter_set_id = CounterSetId(set);
  sample.submission_id = operation.submission_id;
  sample.command_buffer_id = operation.info.command_buffer_id;
  sample.stream_id = operation.queue_ordinal + 1;
  sample.start_tick = dispatch.start_tick;
  sample.end_tick = std::max(dispatch.start_tick, dispatch.end_tick);
  sample.physical_device_ordinal = ordinal_;
  sample.queue_ordinal = operation.queue_ordinal;
  sample.sample_value_count = static_cast<uint32_t>(set.counters.size());
  std::vector<uint64_t> values;
  for (const CounterSets::Counter& counter : set.counters)
    values.push_back(end[counter.word] - start[counter.word]);
  std::lock_guard lock(mutex_);
  sample.sample_id = ++last_sample_id_;
  AppendRecord(counter_samples_, sample,
               {{reinterpret_cast<const char*>(values.data()), values.size() * sizeof(uint64_t)}});
}

void Profiler::RecordMemory(iree_hal_profile_memory_event_t event) {
  if (!Wants(IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS))
    return;
  event.host_time_ns = iree_time_now();
  event.physical_device_ordinal = ordinal_;
  std::lock_guard lock(mutex_);
  event.event_id = ++last_event_id_;
  memory_events_.push_back(event);
}

void Profiler::RecordMemory(iree_hal_profile_memory_event_t event, const iree_hal_pool_t* pool) {
  iree_hal_pool_stats_t stats = {};
  iree_hal_pool_query_stats(pool, &stats);
  event.flags |= IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_STATS;
  event.pool_id = reinterpret_cast<uintptr_t>(pool);
  event.pool_bytes_reserved = stats.bytes_reserved;
  event.pool_bytes_free = stats.bytes_free;
  event.pool_bytes_committed = stats.bytes_committed;
  event.pool_budget_limit = stats.budget_limit;
  event.pool_reservation_count = stats.reservation_count;
  event.pool_slab_count = stats.slab_count;
  RecordMemory(event);
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
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SAMPLES, counter_samples_));
  IREE_RETURN_IF_ERROR(WriteAll(IREE_HAL_PROFILE_CONTENT_TYPE_MEMORY_EVENTS, memory_events_));
  return WriteMetrics();
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
