#ifndef IREE_HAL_ALLOCATOR_H_
#define IREE_HAL_ALLOCATOR_H_

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One kind of memory that an allocator serves from.
typedef struct iree_hal_allocator_memory_heap_t {
  iree_hal_memory_type_t type;
  iree_hal_buffer_usage_t allowed_usage;
  iree_device_size_t max_allocation_size;
  iree_device_size_t min_alignment;
} iree_hal_allocator_memory_heap_t;

/// What a device could do with a buffer of given parameters.
enum iree_hal_buffer_compatibility_bits_t {
  IREE_HAL_BUFFER_COMPATIBILITY_NONE = 0u,
  IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE = 1u << 0,
  IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE = 1u << 1,
  IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE = 1u << 2,
  IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER = 1u << 10,
  IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH = 1u << 11,
  IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE = 1u << 20,
};
typedef uint32_t iree_hal_buffer_compatibility_t;

/// As iree_hal_memory_type_parse.
IREE_API_EXPORT iree_status_t iree_hal_buffer_compatibility_parse(
    iree_string_view_t value, iree_hal_buffer_compatibility_t* out_value);

/// As iree_hal_memory_type_format.
IREE_API_EXPORT iree_string_view_t iree_hal_buffer_compatibility_format(
    iree_hal_buffer_compatibility_t value, iree_bitfield_string_temp_t* out_temp);

typedef enum iree_hal_external_buffer_type_e {
  IREE_HAL_EXTERNAL_BUFFER_TYPE_NONE = 0,
  IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
  IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
  IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD,
  IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_WIN32,
} iree_hal_external_buffer_type_t;

enum iree_hal_external_buffer_flag_bits_t {
  IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_external_buffer_flags_t;

/// Memory from outside the HAL, to import or as exported.
typedef struct iree_hal_external_buffer_t {
  iree_hal_external_buffer_type_t type;
  iree_hal_external_buffer_flags_t flags;
  iree_device_size_t size;
  union {
    struct {
      void* ptr;
    } host_allocation;
    struct {
      uint64_t ptr;
    } device_allocation;
    struct {
      int fd;
    } opaque_fd;
    struct {
      void* handle;
    } opaque_win32;
  } handle;
} iree_hal_external_buffer_t;

/// Memory of a device without an address, for allocators with virtual memory.
typedef struct iree_hal_physical_memory_t iree_hal_physical_memory_t;

enum iree_hal_memory_protection_bits_t {
  IREE_HAL_MEMORY_PROTECTION_NONE = 0ull,
  IREE_HAL_MEMORY_PROTECTION_READ = 1ull << 0,
  IREE_HAL_MEMORY_PROTECTION_WRITE = 1ull << 1,
  IREE_HAL_MEMORY_PROTECTION_READ_WRITE =
      IREE_HAL_MEMORY_PROTECTION_READ | IREE_HAL_MEMORY_PROTECTION_WRITE,
};
typedef uint64_t iree_hal_memory_protection_t;

enum iree_hal_memory_advice_bits_t {
  IREE_HAL_MEMORY_ADVICE_NORMAL = 0ull,
  IREE_HAL_MEMORY_ADVICE_WILL_NEED = 1ull << 0,
  IREE_HAL_MEMORY_ADVICE_DONT_NEED = 1ull << 1,
};
typedef uint64_t iree_hal_memory_advice_t;

/// Bytes allocated and freed so far; HOST_LOCAL memory counts as the host's.
typedef struct iree_hal_allocator_statistics_t {
#if IREE_STATISTICS_ENABLE
  iree_device_size_t host_bytes_peak;
  iree_device_size_t host_bytes_allocated;
  iree_device_size_t host_bytes_freed;
  iree_device_size_t device_bytes_peak;
  iree_device_size_t device_bytes_allocated;
  iree_device_size_t device_bytes_freed;
#else
  int reserved;
#endif
} iree_hal_allocator_statistics_t;

/// Appends the statistics as text, a line per kind of memory.
IREE_API_EXPORT iree_status_t iree_hal_allocator_statistics_format(
    const iree_hal_allocator_statistics_t* statistics, iree_string_builder_t* builder);

typedef struct iree_hal_allocator_t iree_hal_allocator_t;

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_allocator_retain(iree_hal_allocator_t* allocator);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_allocator_release(iree_hal_allocator_t* allocator);

/// Where the allocator takes memory for its own objects from.
IREE_API_EXPORT iree_allocator_t
iree_hal_allocator_host_allocator(const iree_hal_allocator_t* IREE_RESTRICT allocator);

/// Gives back memory that is kept for later.
IREE_API_EXPORT
iree_status_t iree_hal_allocator_trim(iree_hal_allocator_t* IREE_RESTRICT allocator);

/// The statistics so far; zeros where they are not compiled in.
IREE_API_EXPORT void
iree_hal_allocator_query_statistics(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                    iree_hal_allocator_statistics_t* IREE_RESTRICT out_statistics);

/// Prints the statistics.
IREE_API_EXPORT iree_status_t
iree_hal_allocator_statistics_fprint(FILE* file, iree_hal_allocator_t* IREE_RESTRICT allocator);

/// Lists the heaps, best first. `out_count` is always set; too little capacity is OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_allocator_query_memory_heaps(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_host_size_t capacity,
    iree_hal_allocator_memory_heap_t* IREE_RESTRICT heaps,
    iree_host_size_t* IREE_RESTRICT out_count);

/// What could be done with a buffer of these parameters; `out_params` and `out_allocation_size`
/// (may be null) tell what would be allocated.
IREE_API_EXPORT iree_hal_buffer_compatibility_t iree_hal_allocator_query_buffer_compatibility(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_device_size_t allocation_size, iree_hal_buffer_params_t* out_params,
    iree_device_size_t* out_allocation_size);

/// Allocates a buffer of at least `allocation_size` bytes, zero included.
IREE_API_EXPORT iree_status_t iree_hal_allocator_allocate_buffer(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_device_size_t allocation_size, iree_hal_buffer_t** out_buffer);

/// Makes a buffer of external memory. The callback is called once when the buffer is destroyed,
/// not when importing fails.
IREE_API_EXPORT iree_status_t iree_hal_allocator_import_buffer(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_hal_external_buffer_t* IREE_RESTRICT external_buffer,
    iree_hal_buffer_release_callback_t release_callback, iree_hal_buffer_t** out_buffer);

/// Describes a buffer for use outside the HAL; UNAVAILABLE where that is not possible. The buffer
/// must stay alive.
IREE_API_EXPORT iree_status_t iree_hal_allocator_export_buffer(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT buffer,
    iree_hal_external_buffer_type_t requested_type,
    iree_hal_external_buffer_flags_t requested_flags,
    iree_hal_external_buffer_t* IREE_RESTRICT out_external_buffer);

/// Whether the operations on virtual memory work; UNAVAILABLE from all of them otherwise.
IREE_API_EXPORT bool
iree_hal_allocator_supports_virtual_memory(iree_hal_allocator_t* IREE_RESTRICT allocator);

/// The sizes that reservations and mappings are multiples of.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_query_granularity(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_device_size_t* IREE_RESTRICT out_minimum_page_size,
    iree_device_size_t* IREE_RESTRICT out_recommended_page_size);

/// Reserves addresses without memory.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_reserve(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_queue_affinity_t queue_affinity,
    iree_device_size_t size, iree_hal_buffer_t** IREE_RESTRICT out_virtual_buffer);

/// Gives reserved addresses back.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_release(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer);

/// Allocates memory without addresses.
IREE_API_EXPORT iree_status_t iree_hal_allocator_physical_memory_allocate(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_device_size_t size, iree_allocator_t host_allocator,
    iree_hal_physical_memory_t** IREE_RESTRICT out_physical_memory);

/// Frees memory that is mapped nowhere.
IREE_API_EXPORT iree_status_t
iree_hal_allocator_physical_memory_free(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                        iree_hal_physical_memory_t* IREE_RESTRICT physical_memory);

/// Puts memory behind reserved addresses.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_map(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_hal_physical_memory_t* IREE_RESTRICT physical_memory,
    iree_device_size_t physical_offset, iree_device_size_t size);

/// Takes memory away from addresses.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_unmap(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_device_size_t size);

/// Changes what queues may do at addresses.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_protect(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_device_size_t size,
    iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_protection_t protection);

/// Tells how addresses are going to be used.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_advise(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_device_size_t size,
    iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_advice_t advice);

/// An allocator of host memory, zero-initialised, from `data_allocator`.
IREE_API_EXPORT iree_status_t iree_hal_allocator_create_heap(iree_string_view_t identifier,
                                                             iree_allocator_t data_allocator,
                                                             iree_allocator_t host_allocator,
                                                             iree_hal_allocator_t** out_allocator);

/// The driver's side; parameters arrive with their defaults filled in.
typedef struct iree_hal_allocator_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_allocator_t* IREE_RESTRICT allocator);
  iree_allocator_t(IREE_API_PTR* host_allocator)(
      const iree_hal_allocator_t* IREE_RESTRICT allocator);
  iree_status_t(IREE_API_PTR* trim)(iree_hal_allocator_t* IREE_RESTRICT allocator);
  void(IREE_API_PTR* query_statistics)(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                       iree_hal_allocator_statistics_t* IREE_RESTRICT
                                           out_statistics);
  iree_status_t(IREE_API_PTR* query_memory_heaps)(
      iree_hal_allocator_t* IREE_RESTRICT allocator, iree_host_size_t capacity,
      iree_hal_allocator_memory_heap_t* IREE_RESTRICT heaps,
      iree_host_size_t* IREE_RESTRICT out_count);
  iree_hal_buffer_compatibility_t(IREE_API_PTR* query_buffer_compatibility)(
      iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t* IREE_RESTRICT params,
      iree_device_size_t* IREE_RESTRICT allocation_size);
  iree_status_t(IREE_API_PTR* allocate_buffer)(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                               const iree_hal_buffer_params_t* IREE_RESTRICT params,
                                               iree_device_size_t allocation_size,
                                               iree_hal_buffer_t** IREE_RESTRICT out_buffer);
  void(IREE_API_PTR* deallocate_buffer)(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                        iree_hal_buffer_t* IREE_RESTRICT buffer);
  iree_status_t(IREE_API_PTR* import_buffer)(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                             const iree_hal_buffer_params_t* IREE_RESTRICT params,
                                             iree_hal_external_buffer_t* IREE_RESTRICT
                                                 external_buffer,
                                             iree_hal_buffer_release_callback_t release_callback,
                                             iree_hal_buffer_t** IREE_RESTRICT out_buffer);
  iree_status_t(IREE_API_PTR* export_buffer)(
      iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT buffer,
      iree_hal_external_buffer_type_t requested_type,
      iree_hal_external_buffer_flags_t requested_flags,
      iree_hal_external_buffer_t* IREE_RESTRICT out_external_buffer);
  bool(IREE_API_PTR* supports_virtual_memory)(iree_hal_allocator_t* IREE_RESTRICT allocator);
  iree_status_t(IREE_API_PTR* virtual_memory_query_granularity)(
      iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
      iree_device_size_t* IREE_RESTRICT out_minimum_page_size,
      iree_device_size_t* IREE_RESTRICT out_recommended_page_size);
  iree_status_t(IREE_API_PTR* virtual_memory_reserve)(
      iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_queue_affinity_t queue_affinity,
      iree_device_size_t size, iree_hal_buffer_t** IREE_RESTRICT out_virtual_buffer);
  iree_status_t(IREE_API_PTR* virtual_memory_release)(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                                      iree_hal_buffer_t* IREE_RESTRICT
                                                          virtual_buffer);
  iree_status_t(IREE_API_PTR* physical_memory_allocate)(
      iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
      iree_device_size_t size, iree_allocator_t host_allocator,
      iree_hal_physical_memory_t** IREE_RESTRICT out_physical_memory);
  iree_status_t(IREE_API_PTR* physical_memory_free)(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                                    iree_hal_physical_memory_t* IREE_RESTRICT
                                                        physical_memory);
  iree_status_t(IREE_API_PTR* virtual_memory_map)(
      iree_hal_allocator_t* IREE_RESTRICT allocator,
      iree_hal_buffer_t* IREE_RESTRICT virtual_buffer, iree_device_size_t virtual_offset,
      iree_hal_physical_memory_t* IREE_RESTRICT physical_memory, iree_device_size_t physical_offset,
      iree_device_size_t size);
  iree_status_t(IREE_API_PTR* virtual_memory_unmap)(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                                    iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
                                                    iree_device_size_t virtual_offset,
                                                    iree_device_size_t size);
  iree_status_t(IREE_API_PTR* virtual_memory_protect)(
      iree_hal_allocator_t* IREE_RESTRICT allocator,
      iree_hal_buffer_t* IREE_RESTRICT virtual_buffer, iree_device_size_t virtual_offset,
      iree_device_size_t size, iree_hal_queue_affinity_t queue_affinity,
      iree_hal_memory_protection_t protection);
  iree_status_t(IREE_API_PTR* virtual_memory_advise)(
      iree_hal_allocator_t* IREE_RESTRICT allocator,
      iree_hal_buffer_t* IREE_RESTRICT virtual_buffer, iree_device_size_t virtual_offset,
      iree_device_size_t size, iree_hal_queue_affinity_t queue_affinity,
      iree_hal_memory_advice_t advice);
} iree_hal_allocator_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_allocator_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_allocator_destroy(iree_hal_allocator_t* IREE_RESTRICT allocator);

/// Takes back a buffer whose pooling allocator this is.
IREE_API_EXPORT void
iree_hal_allocator_deallocate_buffer(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                     iree_hal_buffer_t* IREE_RESTRICT buffer);

#if IREE_STATISTICS_ENABLE

/// Counts an allocation.
static inline void
iree_hal_allocator_statistics_record_alloc(iree_hal_allocator_statistics_t* statistics,
                                           iree_hal_memory_type_t memory_type,
                                           iree_device_size_t allocation_size) {
  const bool on_host = iree_all_bits_set(memory_type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL);
  iree_device_size_t* allocated =
      on_host ? &statistics->host_bytes_allocated : &statistics->device_bytes_allocated;
  const iree_device_size_t freed =
      on_host ? statistics->host_bytes_freed : statistics->device_bytes_freed;
  iree_device_size_t* peak =
      on_host ? &statistics->host_bytes_peak : &statistics->device_bytes_peak;
  *allocated += allocation_size;
  if (*allocated - freed > *peak)
    *peak = *allocated - freed;
}

/// Counts a free.
static inline void
iree_hal_allocator_statistics_record_free(iree_hal_allocator_statistics_t* statistics,
                                          iree_hal_memory_type_t memory_type,
                                          iree_device_size_t allocation_size) {
  if (iree_all_bits_set(memory_type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL)) {
    statistics->host_bytes_freed += allocation_size;
  } else {
    statistics->device_bytes_freed += allocation_size;
  }
}
#else

/// Counts an allocation.
#define iree_hal_allocator_statistics_record_alloc(statistics, ...)

/// Counts a free.
#define iree_hal_allocator_statistics_record_free(statistics, ...)
#endif

#ifdef __cplusplus
}
#endif
#endif
