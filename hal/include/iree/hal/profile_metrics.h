#ifndef IREE_HAL_PROFILE_METRICS_H_
#define IREE_HAL_PROFILE_METRICS_H_

#include "iree/base/api.h"
#include "iree/hal/profile_schema.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Ids from here on are a producer's own.
#define IREE_HAL_PROFILE_METRIC_ID_PRODUCER_BASE (UINT64_C(1) << 63)

typedef uint64_t iree_hal_profile_builtin_metric_id_t;
enum iree_hal_profile_builtin_metric_id_e {
  IREE_HAL_PROFILE_BUILTIN_METRIC_ID_NONE = 0u,
#define IREE_HAL_PROFILE_BUILTIN_METRIC(enum_name, metric_id, name, unit, value_kind, semantic,    \
                                        plot_hint, description)                                    \
  IREE_HAL_PROFILE_BUILTIN_METRIC_ID_##enum_name = (metric_id),
#include "iree/hal/profile_metrics.inc"
#undef IREE_HAL_PROFILE_BUILTIN_METRIC
};

/// What a metric is.
typedef struct iree_hal_profile_metric_descriptor_t {
  uint64_t metric_id;
  iree_hal_profile_metric_unit_t unit;
  iree_hal_profile_metric_value_kind_t value_kind;
  iree_hal_profile_metric_semantic_t semantic;
  iree_hal_profile_metric_plot_hint_t plot_hint;
  iree_string_view_t name;
  iree_string_view_t description;
} iree_hal_profile_metric_descriptor_t;

static inline bool iree_hal_profile_metric_id_is_builtin(uint64_t metric_id) {
  return metric_id != IREE_HAL_PROFILE_BUILTIN_METRIC_ID_NONE &&
         metric_id < IREE_HAL_PROFILE_METRIC_ID_PRODUCER_BASE;
}

static inline bool iree_hal_profile_metric_id_is_producer_specific(uint64_t metric_id) {
  return metric_id >= IREE_HAL_PROFILE_METRIC_ID_PRODUCER_BASE;
}

/// Number of metrics that all producers share.
IREE_API_EXPORT iree_host_size_t iree_hal_profile_builtin_metric_descriptor_count(void);

/// One of them; null beyond the last.
IREE_API_EXPORT const iree_hal_profile_metric_descriptor_t*
iree_hal_profile_builtin_metric_descriptor_at(iree_host_size_t index);

/// One of them by id, or null.
IREE_API_EXPORT const iree_hal_profile_metric_descriptor_t*
iree_hal_profile_builtin_metric_descriptor_lookup(uint64_t metric_id);

/// One of them by name, or null.
IREE_API_EXPORT const iree_hal_profile_metric_descriptor_t*
iree_hal_profile_builtin_metric_descriptor_lookup_name(iree_string_view_t name);

IREE_API_EXPORT iree_string_view_t
iree_hal_profile_metric_unit_string(iree_hal_profile_metric_unit_t unit);

IREE_API_EXPORT iree_string_view_t
iree_hal_profile_metric_value_kind_string(iree_hal_profile_metric_value_kind_t value_kind);

IREE_API_EXPORT iree_string_view_t
iree_hal_profile_metric_semantic_string(iree_hal_profile_metric_semantic_t semantic);

IREE_API_EXPORT iree_string_view_t
iree_hal_profile_metric_plot_hint_string(iree_hal_profile_metric_plot_hint_t plot_hint);

#ifdef __cplusplus
}
#endif
#endif
