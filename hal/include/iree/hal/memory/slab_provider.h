#ifndef IREE_HAL_MEMORY_SLAB_PROVIDER_H_
#define IREE_HAL_MEMORY_SLAB_PROVIDER_H_

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/hal/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_slab_provider_t iree_hal_slab_provider_t;
typedef struct iree_hal_slab_provider_vtable_t iree_hal_slab_provider_vtable_t;
typedef uint32_t iree_hal_slab_provider_trim_flags_t;
enum iree_hal_slab_provider_trim_flag_bits_e {
  IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_NONE = 0u,
  IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_ALL = 1u << 0,
  IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_EXCESS = 1u << 1,
};

typedef struct iree_hal_slab_provider_stats_t {
  uint64_t total_acquired;
  uint64_t total_released;
  struct {
    uint32_t count;
    uint64_t hit_count;
    uint64_t miss_count;
    uint64_t ema_reuse_interval_nanoseconds;
    uint64_t prefault_time_nanoseconds;
  } cache;
} iree_hal_slab_provider_stats_t;

#define IREE_HAL_SLAB_PROVIDER_MAX_VISITED 32

typedef struct iree_hal_slab_provider_visited_set_t {
  iree_host_size_t count;
  const iree_hal_slab_provider_t* providers[IREE_HAL_SLAB_PROVIDER_MAX_VISITED];
} iree_hal_slab_provider_visited_set_t;

/// A piece of memory from a provider.
typedef struct iree_hal_slab_t {
  uint8_t* base_ptr;
  iree_device_size_t length;
  uint64_t provider_handle;
} iree_hal_slab_t;

/// Where pools get memory from.
struct iree_hal_slab_provider_t {
  iree_atomic_ref_count_t ref_count;
  const iree_hal_slab_provider_vtable_t* vtable;
};

void iree_hal_slab_provider_initialize(const iree_hal_slab_provider_vtable_t* vtable,
                                       iree_hal_slab_provider_t* provider);

/// Adds a reference; null does nothing.
void iree_hal_slab_provider_retain(iree_hal_slab_provider_t* provider);

/// Drops a reference; the last one destroys the object. Null does nothing.
void iree_hal_slab_provider_release(iree_hal_slab_provider_t* provider);

/// Gets a slab of at least `min_length` bytes.
iree_status_t iree_hal_slab_provider_acquire_slab(iree_hal_slab_provider_t* provider,
                                                  iree_device_size_t min_length,
                                                  iree_hal_slab_t* out_slab);

/// Gives a slab back.
void iree_hal_slab_provider_release_slab(iree_hal_slab_provider_t* provider,
                                         const iree_hal_slab_t* slab);

/// Makes a buffer over a range of a slab, which must outlive it.
iree_status_t iree_hal_slab_provider_wrap_buffer(
    iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab, iree_device_size_t slab_offset,
    iree_device_size_t allocation_size, iree_hal_buffer_params_t params,
    iree_hal_buffer_release_callback_t release_callback, iree_hal_buffer_t** out_buffer);

/// Has the system provide a slab's memory now.
void iree_hal_slab_provider_prefault(iree_hal_slab_provider_t* provider, iree_hal_slab_t* slab);

/// Gives back slabs that are kept for later.
void iree_hal_slab_provider_trim(iree_hal_slab_provider_t* provider,
                                 iree_hal_slab_provider_trim_flags_t flags);

/// Adds to the statistics, unless `visited` has the provider.
void iree_hal_slab_provider_query_stats(const iree_hal_slab_provider_t* provider,
                                        iree_hal_slab_provider_visited_set_t* visited,
                                        iree_hal_slab_provider_stats_t* out_stats);

/// The kind of memory that slabs are.
void iree_hal_slab_provider_query_properties(const iree_hal_slab_provider_t* provider,
                                             iree_hal_memory_type_t* out_memory_type,
                                             iree_hal_buffer_usage_t* out_supported_usage);

/// Whether a provider is in the set; adds it.
bool iree_hal_slab_provider_visited(iree_hal_slab_provider_visited_set_t* visited,
                                    const iree_hal_slab_provider_t* provider);

/// The implementation's side.
struct iree_hal_slab_provider_vtable_t {
  void (*destroy)(iree_hal_slab_provider_t* provider);
  iree_status_t (*acquire_slab)(iree_hal_slab_provider_t* provider, iree_device_size_t min_length,
                                iree_hal_slab_t* out_slab);
  void (*release_slab)(iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab);
  iree_status_t (*wrap_buffer)(iree_hal_slab_provider_t* provider, const iree_hal_slab_t* slab,
                               iree_device_size_t slab_offset, iree_device_size_t allocation_size,
                               iree_hal_buffer_params_t params,
                               iree_hal_buffer_release_callback_t release_callback,
                               iree_hal_buffer_t** out_buffer);
  void (*prefault)(iree_hal_slab_provider_t* provider, iree_hal_slab_t* slab);
  void (*trim)(iree_hal_slab_provider_t* provider, iree_hal_slab_provider_trim_flags_t flags);
  void (*query_stats)(const iree_hal_slab_provider_t* provider,
                      iree_hal_slab_provider_visited_set_t* visited,
                      iree_hal_slab_provider_stats_t* out_stats);
  void (*query_properties)(const iree_hal_slab_provider_t* provider,
                           iree_hal_memory_type_t* out_memory_type,
                           iree_hal_buffer_usage_t* out_supported_usage);
};

#ifdef __cplusplus
}
#endif
#endif
