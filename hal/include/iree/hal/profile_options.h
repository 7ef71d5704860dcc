#ifndef IREE_HAL_PROFILE_OPTIONS_H_
#define IREE_HAL_PROFILE_OPTIONS_H_

#include "iree/base/api.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where records go.
typedef struct iree_hal_profile_sink_t iree_hal_profile_sink_t;
typedef uint64_t iree_hal_device_profiling_data_families_t;

/// Kinds of data that a session can record.
enum iree_hal_device_profiling_data_family_bits_t {
  IREE_HAL_DEVICE_PROFILING_DATA_NONE = 0u,
  IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS = 1ull << 0,
  IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS = 1ull << 1,
  IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS = 1ull << 2,
  IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS = 1ull << 3,
  IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES = 1ull << 4,
  IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA = 1ull << 5,
  IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES = 1ull << 6,
  IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS = 1ull << 7,
  IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS = 1ull << 8,
  IREE_HAL_DEVICE_PROFILING_DATA_COMMAND_REGION_EVENTS = 1ull << 9,
  IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES = 1ull << 10,
};
typedef uint32_t iree_hal_device_profiling_flags_t;

enum iree_hal_device_profiling_flag_bits_t {
  IREE_HAL_DEVICE_PROFILING_FLAG_NONE = 0u,
  IREE_HAL_DEVICE_PROFILING_FLAG_LIGHTWEIGHT_STATISTICS = 1u << 0,
};
typedef uint32_t iree_hal_profile_capture_filter_flags_t;

enum iree_hal_profile_capture_filter_flag_bits_t {
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN = 1u << 0,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_BUFFER_ID = 1u << 1,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_INDEX = 1u << 2,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_PHYSICAL_DEVICE_ORDINAL = 1u << 3,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_QUEUE_ORDINAL = 1u << 4,
};

/// Which of the work to record; only the values whose flags are set count.
typedef struct iree_hal_profile_capture_filter_t {
  iree_hal_profile_capture_filter_flags_t flags;
  iree_string_view_t executable_function_pattern;
  uint64_t command_buffer_id;
  uint32_t command_index;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t reserved0;
} iree_hal_profile_capture_filter_t;

static inline iree_hal_profile_capture_filter_t iree_hal_profile_capture_filter_default(void) {
  iree_hal_profile_capture_filter_t filter;
  memset(&filter, 0, sizeof(filter));
  return filter;
}

static inline bool
iree_hal_profile_capture_filter_is_default(const iree_hal_profile_capture_filter_t* filter) {
  return filter->flags == IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_NONE;
}

/// Whether work at a place passes the filter, the function pattern left aside.
static inline bool iree_hal_profile_capture_filter_matches_location(
    const iree_hal_profile_capture_filter_t* filter, uint64_t command_buffer_id,
    uint32_t command_index, uint32_t physical_device_ordinal, uint32_t queue_ordinal) {
  const iree_hal_profile_capture_filter_flags_t flags = filter->flags;
  if ((flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_BUFFER_ID) &&
      command_buffer_id != filter->command_buffer_id)
    return false;
  // Command indices only mean something inside a command buffer.
  if ((flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_INDEX) &&
      (command_buffer_id == 0 || command_index != filter->command_index))
    return false;
  if ((flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_PHYSICAL_DEVICE_ORDINAL) &&
      physical_device_ordinal != filter->physical_device_ordinal)
    return false;
  if ((flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_QUEUE_ORDINAL) &&
      queue_ordinal != filter->queue_ordinal)
    return false;
  return true;
}

typedef uint32_t iree_hal_profile_counter_set_selection_flags_t;
enum iree_hal_profile_counter_set_selection_flag_bits_t {
  IREE_HAL_PROFILE_COUNTER_SET_SELECTION_FLAG_NONE = 0u,
};

typedef struct iree_hal_profile_counter_set_selection_t {
  iree_hal_profile_counter_set_selection_flags_t flags;
  iree_string_view_t name;
  iree_host_size_t counter_name_count;
  const iree_string_view_t* counter_names;
} iree_hal_profile_counter_set_selection_t;

/// What to record and where to write it.
typedef struct iree_hal_device_profiling_options_t {
  iree_hal_device_profiling_flags_t flags;
  iree_hal_device_profiling_data_families_t data_families;
  iree_hal_profile_sink_t* sink;
  iree_hal_profile_capture_filter_t capture_filter;
  iree_host_size_t counter_set_count;
  const iree_hal_profile_counter_set_selection_t* counter_sets;
} iree_hal_device_profiling_options_t;

typedef struct iree_hal_device_profiling_options_storage_t
    iree_hal_device_profiling_options_storage_t;

/// Copies options with all they point at; the sink is retained. `out_storage` is freed with
/// iree_hal_device_profiling_options_storage_free.
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_options_clone(
    const iree_hal_device_profiling_options_t* source_options, iree_allocator_t host_allocator,
    iree_hal_device_profiling_options_t* out_options,
    iree_hal_device_profiling_options_storage_t** out_storage);

IREE_API_EXPORT void
iree_hal_device_profiling_options_storage_free(iree_hal_device_profiling_options_storage_t* storage,
                                               iree_allocator_t host_allocator);

static inline bool iree_hal_device_profiling_options_requests_data(
    const iree_hal_device_profiling_options_t* options,
    iree_hal_device_profiling_data_families_t data_families) {
  return iree_any_bit_set(options->data_families, data_families);
}

static inline bool iree_hal_device_profiling_options_requests_lightweight_statistics(
    const iree_hal_device_profiling_options_t* options) {
  return iree_any_bit_set(options->flags, IREE_HAL_DEVICE_PROFILING_FLAG_LIGHTWEIGHT_STATISTICS);
}

static inline bool iree_hal_device_profiling_options_requests_counter_samples(
    const iree_hal_device_profiling_options_t* options) {
  return iree_hal_device_profiling_options_requests_data(
      options, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES);
}

static inline bool iree_hal_device_profiling_options_requests_counter_ranges(
    const iree_hal_device_profiling_options_t* options) {
  return iree_hal_device_profiling_options_requests_data(
      options, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES);
}

static inline bool iree_hal_device_profiling_options_requests_counters(
    const iree_hal_device_profiling_options_t* options) {
  return iree_hal_device_profiling_options_requests_data(
      options, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
                   IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES);
}

static inline bool iree_hal_device_profiling_options_requests_executable_traces(
    const iree_hal_device_profiling_options_t* options) {
  return iree_hal_device_profiling_options_requests_data(
      options, IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES);
}

static inline bool iree_hal_device_profiling_options_requests_device_metrics(
    const iree_hal_device_profiling_options_t* options) {
  return iree_hal_device_profiling_options_requests_data(
      options, IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS);
}

#ifdef __cplusplus
}
#endif
#endif
