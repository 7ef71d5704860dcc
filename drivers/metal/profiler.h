// A profiling session of a device: what its queues did and when, written to a sink.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "drivers/metal/command_list.h"
#include "drivers/metal/objects.h"
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
  uint32_t function_ordinal = UINT32_MAX;
};

/// Ticks are nanoseconds on the clock of the host's side of MTLDevice's sampleTimestamps, which is
/// that of a command buffer's times; counter samples are brought to it.
class Profiler {
public:
  /// Begins the session at the sink. UNIMPLEMENTED for data that Metal devices do not give.
  static iree_status_t Begin(MTL::Device* device, uint32_t physical_device_ordinal,
                             uint32_t queue_count,
                             const iree_hal_device_profiling_options_t& options,
                             iree_allocator_t host_allocator,
                             std::shared_ptr<Profiler>* out_profiler);
  ~Profiler();

  bool Wants(iree_hal_device_profiling_data_families_t families) const {
    return iree_hal_device_profiling_options_requests_data(&options_, families);
  }
  uint64_t NextSubmissionId() { return ++last_submission_id_; }

  /// An operation from its submission (`submitted`) on; all times are iree_time_now's.
  struct Operation {
    OperationInfo info;
    uint64_t submission_id = 0;
    uint32_t queue_ordinal = 0;
    uint32_t wait_count = 0;
    uint32_t signal_count = 0;
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
  void RecordDispatch(const Operation& operation, const DispatchCommand& dispatch,
                      uint64_t start_tick, uint64_t end_tick);

  /// Timestamps for `count` samples; NULL when the device takes none between encoders.
  MetalPtr<MTL::CounterSampleBuffer> NewSampleBuffer(NS::UInteger count);
  /// A sample as a tick.
  uint64_t ToTick(uint64_t gpu_timestamp) const;
  static uint64_t ToTick(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

  iree_status_t Flush();
  iree_status_t End();

private:
  struct Correlation {
    MTL::Timestamp cpu = 0;
    MTL::Timestamp gpu = 0;
  };

  Profiler(MTL::Device* device, uint32_t ordinal)
      : device_(NS::RetainPtr(device)), ordinal_(ordinal) {}

  iree_hal_profile_chunk_metadata_t Metadata(iree_string_view_t content_type) const;
  iree_status_t Write(iree_string_view_t content_type, const void* data, iree_host_size_t size,
                      uint32_t queue_ordinal = UINT32_MAX);
  template <class T>
  iree_status_t WriteAll(iree_string_view_t content_type, std::vector<T>& records);
  iree_status_t WriteCorrelation();

  MetalPtr<MTL::Device> device_;
  MetalPtr<MTL::CounterSet> timestamp_set_;
  iree_allocator_t host_allocator_ = {};
  iree_hal_device_profiling_options_t options_ = {};
  iree_hal_device_profiling_options_storage_t* storage_ = nullptr;
  uint64_t session_id_ = 0;
  uint32_t ordinal_;
  Correlation first_, last_;
  std::atomic<uint64_t> last_submission_id_{0};

  mutable std::mutex mutex_;
  uint64_t last_event_id_ = 0;
  uint64_t last_sample_id_ = 0;
  std::vector<iree_hal_profile_queue_event_t> queue_events_;
  std::vector<iree_hal_profile_host_execution_event_t> host_events_;
  // By queue.
  std::vector<std::vector<iree_hal_profile_queue_device_event_t>> device_events_;
  std::vector<std::vector<iree_hal_profile_dispatch_event_t>> dispatch_events_;
  std::vector<iree_hal_profile_command_buffer_record_t> command_buffers_;
  std::vector<iree_hal_profile_command_operation_record_t> command_operations_;
  std::vector<iree_hal_profile_executable_record_t> executables_;
  // Records are followed by names, so that they have different lengths.
  std::vector<uint8_t> functions_;
  std::set<uint64_t> described_;
};

} // namespace bessemer::metal_driver
