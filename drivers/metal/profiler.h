// A profiling session of a device: what its queues did and when, written to a sink.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "drivers/metal/command_list.h"
#include "drivers/metal/dispatch_samples.h"
#include "drivers/metal/objects.h"
#include "iree/hal/pool.h"
#include "iree/hal/profile_metrics.h"
#include "iree/hal/profile_schema.h"
#include "iree/hal/profile_sink.h"

namespace bessemer::metal_driver {

/// What an operation of a queue tells about itself.
struct OperationInfo {
  iree_hal_profile_queue_event_type_t type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER;
  uint32_t operation_count = 1;
  uint64_t payload_length = 0;
  uint64_t command_buffer_id = 0;
  uint64_t executable_id = 0;
  uint64_t allocation_id = 0;
  uint32_t function_ordinal = UINT32_MAX;
};

/// Ticks are nanoseconds on the clock of the host's side of MTLDevice's sampleTimestamps, which is
/// that of a command buffer's times; counter samples are brought to it. Each flush writes a clock
/// correlation: host_system_timestamp is std::chrono::steady_clock's time of device_tick.
///
/// What a session writes, by what was asked for (chunks of iree/hal/profile_schema.h's records):
///   QUEUE_EVENTS            queue-events: each operation when it was submitted and became ready
///   HOST_EXECUTION_EVENTS   host-execution-events: from ready to complete, as the host saw it
///   DEVICE_QUEUE_EVENTS     queue-device-events: ticks of each command buffer on the device
///   DISPATCH_EVENTS         dispatch-events: ticks, counts and sizes of each dispatch; before
///   them,
///                           executables and executable-functions (whose names are the exports'),
///                           command-buffers and command-operations. Each dispatch is a pass of its
///                           own then, so that dispatches of one command buffer do not overlap
///   COUNTER_SAMPLES         counter-samples of each dispatch for the counter sets that were named:
///                           what was added to a counter while it ran. First counter-sets, counters
///   COUNTER_RANGES          the same from the first dispatch of a command buffer to its last
///   EXECUTABLE_METADATA     executables and executable-functions of what runs
///   MEMORY_EVENTS           memory-events of buffers, slabs, pools and queue allocations
///   DEVICE_METRICS          device-metric-samples of memory, at the beginning and at each flush
class Profiler {
public:
  /// Begins the session at the sink. UNIMPLEMENTED for data that Metal devices do not give (traces
  /// of instructions, regions of commands), NOT_FOUND for counters that this one does not.
  static iree_status_t Begin(MTL::Device* device, uint32_t physical_device_ordinal,
                             uint32_t queue_count,
                             const iree_hal_device_profiling_options_t& options,
                             iree_allocator_t host_allocator,
                             std::shared_ptr<Profiler>* out_profiler);
  ~Profiler();

  bool Wants(iree_hal_device_profiling_data_families_t families) const {
    return iree_hal_device_profiling_options_requests_data(&options_, families);
  }
  /// Whether dispatches are to be sampled.
  bool TimesDispatches() const {
    return Wants(IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
                 IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
                 IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES);
  }
  uint64_t NextSubmissionId() { return ++last_submission_id_; }
  MTL::Device* device() const { return device_.get(); }
  std::span<const CounterSets::Set> counter_sets() const { return counter_sets_.sets(); }

  /// An operation from its submission (`submitted`) on; all times are iree_time_now's.
  struct Operation {
    OperationInfo info;
    uint64_t submission_id = 0;
    uint32_t queue_ordinal = 0;
    uint32_t wait_count = 0;
    uint32_t signal_count = 0;
    bool waits_on_device = false;
    iree_time_t submitted = 0;
    iree_time_t ready = 0;
    iree_time_t ended = 0;
    iree_status_code_t status_code = IREE_STATUS_OK;
  };
  void Record(const Operation& operation);
  /// The time of an operation on the device, in seconds as Metal gives it.
  void RecordDeviceTime(const Operation& operation, double start, double end);

  /// Before a list is replayed: describes what its events will refer to.
  void Describe(const CommandList& list, const iree_hal_command_buffer_t* command_buffer);
  /// Whether the filter lets the dispatch through. Direct ones have no command buffer.
  bool Matches(const DispatchCommand& dispatch, uint64_t command_buffer_id,
               uint32_t queue_ordinal) const;
  /// A dispatch as it ran, or with no command the time from one dispatch to another.
  struct Dispatch {
    const Operation* operation = nullptr;
    const DispatchCommand* command = nullptr;
    uint64_t start_tick = 0;
    uint64_t end_tick = 0;
  };
  /// Returns the event's number, which is there even when only counters are wanted.
  uint64_t RecordDispatch(const Dispatch& dispatch);
  /// What the counters of a set counted between two samples, if both were taken.
  void RecordCounters(const CounterSets::Set& set, const Dispatch& dispatch,
                      uint64_t dispatch_event_id, const uint64_t* start, const uint64_t* end);
  /// Completes the event: its number, time and device.
  void RecordMemory(iree_hal_profile_memory_event_t event);
  /// The same with the state of a pool.
  void RecordMemory(iree_hal_profile_memory_event_t event, const iree_hal_pool_t* pool);

  /// Brings samples of the device to ticks.
  struct Clock {
    MTL::Timestamp cpu = 0;
    MTL::Timestamp gpu = 0;
    double ticks_per_sample = 1;

    uint64_t ToTick(uint64_t sample) const;
  };
  Clock SampleClock() const;
  static uint64_t ToTick(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

  iree_status_t Flush();
  iree_status_t End();

private:
  Profiler(MTL::Device* device, uint32_t ordinal)
      : device_(RetainMetal(device)), ordinal_(ordinal) {}

  iree_hal_profile_chunk_metadata_t Metadata(iree_string_view_t content_type) const;
  iree_status_t Write(iree_string_view_t content_type, const void* data, iree_host_size_t size,
                      uint32_t queue_ordinal = UINT32_MAX);
  template <class T>
  iree_status_t WriteAll(iree_string_view_t content_type, std::vector<T>& records);
  iree_status_t WriteDevice(uint32_t queue_count);
  iree_status_t WriteCorrelation();
  uint64_t CounterSetId(const CounterSets::Set& set) const;
  iree_status_t WriteCounterSets();
  iree_status_t WriteMetricSource();
  iree_status_t WriteMetrics();

  MetalPtr<MTL::Device> device_;
  CounterSets counter_sets_;
  iree_allocator_t host_allocator_ = {};
  iree_hal_device_profiling_options_t options_ = {};
  iree_hal_device_profiling_options_storage_t* storage_ = nullptr;
  uint64_t session_id_ = 0;
  uint32_t ordinal_;
  Clock first_;
  std::atomic<uint64_t> last_submission_id_{0};

  mutable std::mutex mutex_;
  uint64_t last_event_id_ = 0;
  uint64_t last_sample_id_ = 0;
  std::vector<iree_hal_profile_queue_event_t> queue_events_;
  std::vector<iree_hal_profile_host_execution_event_t> host_events_;
  // By queue.
  std::vector<std::vector<iree_hal_profile_queue_device_event_t>> device_events_;
  std::vector<std::vector<iree_hal_profile_dispatch_event_t>> dispatch_events_;
  std::vector<iree_hal_profile_memory_event_t> memory_events_;
  std::vector<iree_hal_profile_command_buffer_record_t> command_buffers_;
  std::vector<iree_hal_profile_command_operation_record_t> command_operations_;
  std::vector<iree_hal_profile_executable_record_t> executables_;
  // Records are followed by names or values, so that they have different lengths.
  std::vector<uint8_t> functions_;
  std::vector<uint8_t> counter_samples_;
  std::set<uint64_t> described_;
};

} // namespace bessemer::metal_driver
