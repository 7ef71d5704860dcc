#ifndef IREE_HAL_EXECUTABLE_CACHE_H_
#define IREE_HAL_EXECUTABLE_CACHE_H_

#include "iree/base/api.h"
#include "iree/hal/executable.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

/// What may be done with an executable's data and how it is to be prepared.
enum iree_hal_executable_caching_mode_bits_t {
  IREE_HAL_EXECUTABLE_CACHING_MODE_ALIAS_PROVIDED_DATA = 1u << 0,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_PERSISTENT_CACHING = 1u << 1,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_OPTIMIZATION = 1u << 2,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ENABLE_DEBUGGING = 1u << 3,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ENABLE_COVERAGE = 1u << 4,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ENABLE_PROFILING = 1u << 5,
  IREE_HAL_EXECUTABLE_CACHING_MODE_DISABLE_VERIFICATION = 1u << 6,
};
typedef uint32_t iree_hal_executable_caching_mode_t;

/// What to prepare. Data and constants need to live for the call only, unless ALIAS_PROVIDED_DATA
/// is set.
typedef struct iree_hal_executable_params_t {
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_executable_caching_mode_t caching_mode;
  iree_string_view_t executable_format;
  iree_const_byte_span_t executable_data;
  iree_host_size_t constant_count;
  const uint32_t* constants;
} iree_hal_executable_params_t;

/// Sets defaults.
void iree_hal_executable_params_initialize(iree_hal_executable_params_t* out_executable_params);

typedef struct iree_hal_executable_cache_t iree_hal_executable_cache_t;

/// Makes a cache of prepared executables.
IREE_API_EXPORT iree_status_t
iree_hal_executable_cache_create(iree_hal_device_t* device, iree_string_view_t identifier,
                                 iree_hal_executable_cache_t** out_executable_cache);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void
iree_hal_executable_cache_retain(iree_hal_executable_cache_t* executable_cache);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void
iree_hal_executable_cache_release(iree_hal_executable_cache_t* executable_cache);

/// Tells the format and size of executable data, where the data says so. A data length of 0 trusts
/// the data.
IREE_API_EXPORT iree_status_t iree_hal_executable_cache_infer_format(
    iree_hal_executable_cache_t* executable_cache, iree_hal_executable_caching_mode_t caching_mode,
    iree_const_byte_span_t executable_data, iree_host_size_t executable_format_capacity,
    char* executable_format, iree_host_size_t* out_inferred_size);

/// Whether executables of a format can be prepared.
IREE_API_EXPORT bool
iree_hal_executable_cache_can_prepare_format(iree_hal_executable_cache_t* executable_cache,
                                             iree_hal_executable_caching_mode_t caching_mode,
                                             iree_string_view_t executable_format);

/// Makes an executable ready to run.
IREE_API_EXPORT iree_status_t iree_hal_executable_cache_prepare_executable(
    iree_hal_executable_cache_t* executable_cache,
    const iree_hal_executable_params_t* executable_params, iree_hal_executable_t** out_executable);

typedef struct iree_hal_executable_cache_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_executable_cache_t* executable_cache);
  iree_status_t(IREE_API_PTR* infer_format)(iree_hal_executable_cache_t* executable_cache,
                                            iree_hal_executable_caching_mode_t caching_mode,
                                            iree_const_byte_span_t executable_data,
                                            iree_host_size_t executable_format_capacity,
                                            char* executable_format,
                                            iree_host_size_t* out_inferred_size);
  bool(IREE_API_PTR* can_prepare_format)(iree_hal_executable_cache_t* executable_cache,
                                         iree_hal_executable_caching_mode_t caching_mode,
                                         iree_string_view_t executable_format);
  iree_status_t(IREE_API_PTR* prepare_executable)(
      iree_hal_executable_cache_t* executable_cache,
      const iree_hal_executable_params_t* executable_params,
      iree_hal_executable_t** out_executable);
} iree_hal_executable_cache_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_executable_cache_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void
iree_hal_executable_cache_destroy(iree_hal_executable_cache_t* executable_cache);

#ifdef __cplusplus
}
#endif
#endif
