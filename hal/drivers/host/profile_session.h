#pragma once

// What the device records of its queue operations between profiling_begin and profiling_end.

#include <memory>
#include <mutex>
#include <vector>

#include "iree/hal/profile_options.h"
#include "iree/hal/profile_schema.h"
#include "iree/hal/profile_sink.h"

namespace bessemer::hal::host {

/// What kind of work an operation is.
struct Work {
  iree_hal_profile_queue_event_type_t type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER;
  /// Bytes moved.
  uint64_t payloadLength = 0;
  uint64_t commandBufferId = 0;
};

/// When an operation went through its stations, in nanoseconds of the host's clock.
struct WorkTimes {
  int64_t submitted = 0;
  int64_t ready = 0;
  int64_t started = 0;
  int64_t ended = 0;
};

class ProfileSession {
public:
  /// Opens a session at the options' sink. UNIMPLEMENTED for data that the host cannot record.
  static iree_status_t begin(const iree_hal_device_profiling_options_t& options,
                             uint32_t queueCount, iree_string_view_t deviceName,
                             iree_allocator_t hostAllocator,
                             std::shared_ptr<ProfileSession>* out_session);
  ~ProfileSession();

  ProfileSession(const ProfileSession&) = delete;
  ProfileSession& operator=(const ProfileSession&) = delete;

  /// Notes an operation that has ended with `code`.
  void record(const Work& work, const WorkTimes& times, uint32_t queue, size_t waitCount,
              size_t signalCount, iree_status_code_t code);
  /// Writes what was noted so far to the sink.
  iree_status_t flush();
  /// Writes the rest and closes the session at the sink.
  iree_status_t end();

private:
  ProfileSession() = default;

  iree_hal_profile_chunk_metadata_t metadata(iree_string_view_t contentType) const;
  template <typename Record>
  iree_status_t write(iree_string_view_t contentType, const std::vector<Record>& records);

  iree_allocator_t hostAllocator_;
  iree_hal_device_profiling_options_t options_ = {};
  /// What `options_` points at, with a reference to the sink; null after the end.
  iree_hal_device_profiling_options_storage_t* storage_ = nullptr;
  uint64_t id_ = 0;
  std::mutex mutex_;
  uint64_t nextId_ = 1;
  std::vector<iree_hal_profile_queue_event_t> queueEvents_;
  std::vector<iree_hal_profile_host_execution_event_t> hostEvents_;
};

} // namespace bessemer::hal::host
