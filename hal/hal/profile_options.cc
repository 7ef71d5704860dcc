#include "iree/hal/profile_options.h"

#include <cstring>
#include <span>

#include "hal/hal/profiling_request.h"
#include "iree/hal/profile_sink.h"

namespace {

constexpr iree_hal_device_profiling_data_families_t kAllFamilies =
    (IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES << 1) - 1;
constexpr iree_hal_profile_capture_filter_flags_t kAllFilters =
    (IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_QUEUE_ORDINAL << 1) - 1;
constexpr iree_hal_device_profiling_flags_t kAllFlags =
    IREE_HAL_DEVICE_PROFILING_FLAG_LIGHTWEIGHT_STATISTICS;

std::span<const iree_hal_profile_counter_set_selection_t>
counterSets(const iree_hal_device_profiling_options_t& options) {
  return {options.counter_sets, options.counter_set_count};
}

iree_status_t invalid(const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "profiling options: %s", what);
}

iree_status_t checkFilter(const iree_hal_profile_capture_filter_t& filter) {
  if (filter.flags & ~kAllFilters)
    return invalid("unknown capture filter bits");
  if (filter.reserved0)
    return invalid("the reserved word of the capture filter is not zero");
  if ((filter.flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN) &&
      iree_string_view_is_empty(filter.executable_function_pattern)) {
    return invalid("the capture filter's function pattern is empty");
  }
  if ((filter.flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_BUFFER_ID) &&
      filter.command_buffer_id == 0) {
    return invalid("the capture filter's command buffer id is zero");
  }
  return iree_ok_status();
}

iree_status_t checkCounters(const iree_hal_device_profiling_options_t& options) {
  const bool wanted = iree_hal_device_profiling_options_requests_counters(&options);
  if (options.counter_set_count > 0 && !options.counter_sets) {
    return invalid("counter sets are counted but not given");
  }
  if (wanted && options.counter_set_count == 0) {
    return invalid("counter data is requested but no counter set is selected");
  }
  if (!wanted && options.counter_set_count > 0) {
    return invalid("counter sets are selected but no counter data is requested");
  }
  for (const auto& set : counterSets(options)) {
    if (set.flags)
      return invalid("unknown counter set bits");
    if (set.counter_name_count == 0 || !set.counter_names) {
      return invalid("a counter set selection names no counter");
    }
    for (const auto& name : std::span(set.counter_names, set.counter_name_count)) {
      if (iree_string_view_is_empty(name))
        return invalid("a counter name is empty");
    }
  }
  return iree_ok_status();
}

} // namespace

namespace bessemer::hal {

iree_status_t checkProfilingRequest(const iree_hal_device_profiling_options_t& options) {
  if (options.flags & ~kAllFlags)
    return invalid("unknown flag bits");
  if (options.data_families & ~kAllFamilies)
    return invalid("unknown data family bits");
  IREE_RETURN_IF_ERROR(checkFilter(options.capture_filter));
  IREE_RETURN_IF_ERROR(checkCounters(options));
  if (requestsAnything(options) && !options.sink) {
    return invalid("data is requested without a sink");
  }
  return iree_ok_status();
}

bool requestsAnything(const iree_hal_device_profiling_options_t& options) {
  return options.data_families || options.flags;
}

} // namespace bessemer::hal

// What a clone's views point at: the selections, then their counter names, then all text.
struct iree_hal_device_profiling_options_storage_t {
  iree_hal_profile_sink_t* sink;
};

iree_status_t
iree_hal_device_profiling_options_clone(const iree_hal_device_profiling_options_t* source_options,
                                        iree_allocator_t host_allocator,
                                        iree_hal_device_profiling_options_t* out_options,
                                        iree_hal_device_profiling_options_storage_t** out_storage) {
  std::memset(out_options, 0, sizeof(*out_options));
  *out_storage = nullptr;
  const auto sets = counterSets(*source_options);
  const iree_string_view_t pattern = source_options->capture_filter.executable_function_pattern;
  iree_host_size_t nameCount = 0, textSize = pattern.size;
  for (const auto& set : sets) {
    nameCount += set.counter_name_count;
    textSize += set.name.size;
    for (const auto& name : std::span(set.counter_names, set.counter_name_count)) {
      textSize += name.size;
    }
  }
  using Storage = iree_hal_device_profiling_options_storage_t;
  void* memory = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator,
                                             sizeof(Storage) + sets.size_bytes() +
                                                 nameCount * sizeof(iree_string_view_t) + textSize,
                                             &memory));
  auto* storage = static_cast<Storage*>(memory);
  auto* selections = reinterpret_cast<iree_hal_profile_counter_set_selection_t*>(storage + 1);
  auto* names = reinterpret_cast<iree_string_view_t*>(selections + sets.size());
  char* text = reinterpret_cast<char*>(names + nameCount);
  auto copyText = [&](iree_string_view_t source) {
    if (source.size)
      std::memcpy(text, source.data, source.size);
    text += source.size;
    return iree_make_string_view(text - source.size, source.size);
  };

  *out_options = *source_options;
  out_options->capture_filter.executable_function_pattern = copyText(pattern);
  out_options->counter_sets = sets.empty() ? nullptr : selections;
  for (const auto& set : sets) {
    *selections = set;
    selections->name = copyText(set.name);
    selections->counter_names = set.counter_name_count ? names : nullptr;
    for (const auto& name : std::span(set.counter_names, set.counter_name_count)) {
      *names++ = copyText(name);
    }
    ++selections;
  }
  storage->sink = source_options->sink;
  iree_hal_profile_sink_retain(storage->sink);
  *out_storage = storage;
  return iree_ok_status();
}

void iree_hal_device_profiling_options_storage_free(
    iree_hal_device_profiling_options_storage_t* storage, iree_allocator_t host_allocator) {
  if (!storage)
    return;
  iree_hal_profile_sink_release(storage->sink);
  iree_allocator_free(host_allocator, storage);
}
