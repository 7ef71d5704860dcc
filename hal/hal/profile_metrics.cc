#include "iree/hal/profile_metrics.h"

#include <algorithm>
#include <iterator>

namespace {

constexpr iree_hal_profile_metric_descriptor_t kBuiltins[] = {
#define IREE_HAL_PROFILE_BUILTIN_METRIC(enum_name, id, text_name, unit_value, kind,                \
                                        semantic_value, hint, meaning)                             \
  {.metric_id = (id),                                                                              \
   .unit = (unit_value),                                                                           \
   .value_kind = (kind),                                                                           \
   .semantic = (semantic_value),                                                                   \
   .plot_hint = (hint),                                                                            \
   .name = IREE_SVL(text_name),                                                                    \
   .description = IREE_SVL(meaning)},
#include "iree/hal/profile_metrics.inc"
#undef IREE_HAL_PROFILE_BUILTIN_METRIC
};

template <typename Predicate>
const iree_hal_profile_metric_descriptor_t* find(Predicate predicate) {
  const auto* found = std::find_if(std::begin(kBuiltins), std::end(kBuiltins), predicate);
  return found == std::end(kBuiltins) ? nullptr : found;
}

template <size_t N>
iree_string_view_t nameOf(const char* const (&names)[N], uint64_t value) {
  return iree_make_cstring_view(value < N ? names[value] : "unknown");
}

} // namespace

iree_host_size_t iree_hal_profile_builtin_metric_descriptor_count(void) {
  return std::size(kBuiltins);
}

const iree_hal_profile_metric_descriptor_t*
iree_hal_profile_builtin_metric_descriptor_at(iree_host_size_t index) {
  return index < std::size(kBuiltins) ? &kBuiltins[index] : nullptr;
}

const iree_hal_profile_metric_descriptor_t*
iree_hal_profile_builtin_metric_descriptor_lookup(uint64_t metric_id) {
  return find([&](const auto& metric) { return metric.metric_id == metric_id; });
}

const iree_hal_profile_metric_descriptor_t*
iree_hal_profile_builtin_metric_descriptor_lookup_name(iree_string_view_t name) {
  return find([&](const auto& metric) { return iree_string_view_equal(metric.name, name); });
}

iree_string_view_t iree_hal_profile_metric_unit_string(iree_hal_profile_metric_unit_t unit) {
  static constexpr const char* kNames[] = {"none",
                                           "count",
                                           "hz",
                                           "bytes",
                                           "bytes_per_second",
                                           "millipercent",
                                           "millidegrees_celsius",
                                           "microwatts",
                                           "microjoules",
                                           "bitfield",
                                           "enum"};
  return nameOf(kNames, unit);
}

iree_string_view_t
iree_hal_profile_metric_value_kind_string(iree_hal_profile_metric_value_kind_t value_kind) {
  static constexpr const char* kNames[] = {"none", "i64", "u64", "f64"};
  return nameOf(kNames, value_kind);
}

iree_string_view_t
iree_hal_profile_metric_semantic_string(iree_hal_profile_metric_semantic_t semantic) {
  static constexpr const char* kNames[] = {"none",       "instant", "average",
                                           "cumulative", "delta",   "state"};
  return nameOf(kNames, semantic);
}

iree_string_view_t
iree_hal_profile_metric_plot_hint_string(iree_hal_profile_metric_plot_hint_t plot_hint) {
  static constexpr const char* kNames[] = {"none",       "number",    "memory",
                                           "percentage", "frequency", "temperature",
                                           "power",      "energy",    "bandwidth"};
  return nameOf(kNames, plot_hint);
}
