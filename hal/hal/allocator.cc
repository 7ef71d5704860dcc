#include "iree/hal/allocator.h"

#include <cstring>

#include "hal/hal/object.h"

using bessemer::hal::vtableOf;
using Vtable = iree_hal_allocator_vtable_t;

void iree_hal_allocator_retain(iree_hal_allocator_t* allocator) {
  iree_hal_resource_retain(allocator);
}

void iree_hal_allocator_release(iree_hal_allocator_t* allocator) {
  iree_hal_resource_release(allocator);
}

void iree_hal_allocator_destroy(iree_hal_allocator_t* IREE_RESTRICT allocator) {
  if (allocator)
    vtableOf<Vtable>(allocator).destroy(allocator);
}

iree_allocator_t
iree_hal_allocator_host_allocator(const iree_hal_allocator_t* IREE_RESTRICT allocator) {
  return vtableOf<Vtable>(allocator).host_allocator(allocator);
}

iree_status_t iree_hal_allocator_trim(iree_hal_allocator_t* IREE_RESTRICT allocator) {
  return vtableOf<Vtable>(allocator).trim(allocator);
}

void iree_hal_allocator_query_statistics(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                         iree_hal_allocator_statistics_t* IREE_RESTRICT
                                             out_statistics) {
  std::memset(out_statistics, 0, sizeof(*out_statistics));
  IREE_STATISTICS({ vtableOf<Vtable>(allocator).query_statistics(allocator, out_statistics); });
}

iree_status_t
iree_hal_allocator_statistics_format(const iree_hal_allocator_statistics_t* statistics,
                                     iree_string_builder_t* builder) {
#if IREE_STATISTICS_ENABLE
  struct {
    const char* where;
    iree_device_size_t peak, allocated, freed;
  } const rows[] = {
      {"  HOST_LOCAL", statistics->host_bytes_peak, statistics->host_bytes_allocated,
       statistics->host_bytes_freed},
      {"DEVICE_LOCAL", statistics->device_bytes_peak, statistics->device_bytes_allocated,
       statistics->device_bytes_freed},
  };
  for (const auto& row : rows) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
        builder,
        "%s: %12" PRIdsz " B peak, %12" PRIdsz " B allocated, %12" PRIdsz " B freed, %12" PRIdsz
        " B live\n",
        row.where, row.peak, row.allocated, row.freed, row.allocated - row.freed));
  }
#else
  (void)statistics;
  (void)builder;
#endif
  return iree_ok_status();
}

iree_status_t iree_hal_allocator_statistics_fprint(FILE* file,
                                                   iree_hal_allocator_t* IREE_RESTRICT allocator) {
  iree_hal_allocator_statistics_t statistics;
  iree_hal_allocator_query_statistics(allocator, &statistics);
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_hal_allocator_host_allocator(allocator), &builder);
  iree_status_t status = iree_hal_allocator_statistics_format(&statistics, &builder);
  if (iree_status_is_ok(status)) {
    std::fprintf(file, "%.*s", (int)iree_string_builder_size(&builder),
                 iree_string_builder_buffer(&builder));
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}

iree_status_t
iree_hal_allocator_query_memory_heaps(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                      iree_host_size_t capacity,
                                      iree_hal_allocator_memory_heap_t* IREE_RESTRICT heaps,
                                      iree_host_size_t* IREE_RESTRICT out_count) {
  iree_host_size_t count = 0;
  if (!out_count)
    out_count = &count;
  *out_count = 0;
  if (capacity > 0 && !heaps) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a heap capacity of %" PRIhsz " comes with no storage", capacity);
  }
  return vtableOf<Vtable>(allocator).query_memory_heaps(allocator, capacity, heaps, out_count);
}

iree_hal_buffer_compatibility_t iree_hal_allocator_query_buffer_compatibility(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_device_size_t allocation_size, iree_hal_buffer_params_t* out_params,
    iree_device_size_t* out_allocation_size) {
  iree_hal_buffer_params_canonicalize(&params);
  iree_hal_buffer_compatibility_t compatibility =
      vtableOf<Vtable>(allocator).query_buffer_compatibility(allocator, &params, &allocation_size);
  const bool usable = compatibility != IREE_HAL_BUFFER_COMPATIBILITY_NONE;
  if (out_params) {
    std::memset(out_params, 0, sizeof(*out_params));
    if (usable)
      *out_params = params;
  }
  if (out_allocation_size)
    *out_allocation_size = usable ? allocation_size : 0;
  return compatibility;
}

iree_status_t iree_hal_allocator_allocate_buffer(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                                 iree_hal_buffer_params_t params,
                                                 iree_device_size_t allocation_size,
                                                 iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  iree_hal_buffer_params_canonicalize(&params);
  return vtableOf<Vtable>(allocator).allocate_buffer(allocator, &params, allocation_size,
                                                     out_buffer);
}

void iree_hal_allocator_deallocate_buffer(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                          iree_hal_buffer_t* IREE_RESTRICT buffer) {
  vtableOf<Vtable>(allocator).deallocate_buffer(allocator, buffer);
}

iree_status_t iree_hal_allocator_import_buffer(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_hal_external_buffer_t* IREE_RESTRICT external_buffer,
    iree_hal_buffer_release_callback_t release_callback, iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  iree_hal_buffer_params_canonicalize(&params);
  return vtableOf<Vtable>(allocator).import_buffer(allocator, &params, external_buffer,
                                                   release_callback, out_buffer);
}

iree_status_t
iree_hal_allocator_export_buffer(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                 iree_hal_buffer_t* IREE_RESTRICT buffer,
                                 iree_hal_external_buffer_type_t requested_type,
                                 iree_hal_external_buffer_flags_t requested_flags,
                                 iree_hal_external_buffer_t* IREE_RESTRICT out_external_buffer) {
  std::memset(out_external_buffer, 0, sizeof(*out_external_buffer));
  return vtableOf<Vtable>(allocator).export_buffer(allocator, buffer, requested_type,
                                                   requested_flags, out_external_buffer);
}

//===--- virtual memory -----------------------------------------------------------------------===//

bool iree_hal_allocator_supports_virtual_memory(iree_hal_allocator_t* IREE_RESTRICT allocator) {
  return vtableOf<Vtable>(allocator).supports_virtual_memory(allocator);
}

iree_status_t iree_hal_allocator_virtual_memory_query_granularity(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_device_size_t* IREE_RESTRICT out_minimum_page_size,
    iree_device_size_t* IREE_RESTRICT out_recommended_page_size) {
  *out_minimum_page_size = 0;
  *out_recommended_page_size = 0;
  iree_hal_buffer_params_canonicalize(&params);
  return vtableOf<Vtable>(allocator).virtual_memory_query_granularity(
      allocator, params, out_minimum_page_size, out_recommended_page_size);
}

iree_status_t iree_hal_allocator_virtual_memory_reserve(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_queue_affinity_t queue_affinity,
    iree_device_size_t size, iree_hal_buffer_t** IREE_RESTRICT out_virtual_buffer) {
  *out_virtual_buffer = nullptr;
  return vtableOf<Vtable>(allocator).virtual_memory_reserve(allocator, queue_affinity, size,
                                                            out_virtual_buffer);
}

iree_status_t
iree_hal_allocator_virtual_memory_release(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                          iree_hal_buffer_t* IREE_RESTRICT virtual_buffer) {
  return vtableOf<Vtable>(allocator).virtual_memory_release(allocator, virtual_buffer);
}

iree_status_t iree_hal_allocator_physical_memory_allocate(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_params_t params,
    iree_device_size_t size, iree_allocator_t host_allocator,
    iree_hal_physical_memory_t** IREE_RESTRICT out_physical_memory) {
  *out_physical_memory = nullptr;
  iree_hal_buffer_params_canonicalize(&params);
  return vtableOf<Vtable>(allocator).physical_memory_allocate(allocator, params, size,
                                                              host_allocator, out_physical_memory);
}

iree_status_t
iree_hal_allocator_physical_memory_free(iree_hal_allocator_t* IREE_RESTRICT allocator,
                                        iree_hal_physical_memory_t* IREE_RESTRICT physical_memory) {
  return vtableOf<Vtable>(allocator).physical_memory_free(allocator, physical_memory);
}

iree_status_t iree_hal_allocator_virtual_memory_map(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_hal_physical_memory_t* IREE_RESTRICT physical_memory,
    iree_device_size_t physical_offset, iree_device_size_t size) {
  return vtableOf<Vtable>(allocator).virtual_memory_map(allocator, virtual_buffer, virtual_offset,
                                                        physical_memory, physical_offset, size);
}

iree_status_t iree_hal_allocator_virtual_memory_unmap(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_device_size_t size) {
  return vtableOf<Vtable>(allocator).virtual_memory_unmap(allocator, virtual_buffer, virtual_offset,
                                                          size);
}

iree_status_t iree_hal_allocator_virtual_memory_protect(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_device_size_t size,
    iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_protection_t protection) {
  return vtableOf<Vtable>(allocator).virtual_memory_protect(
      allocator, virtual_buffer, virtual_offset, size, queue_affinity, protection);
}

iree_status_t iree_hal_allocator_virtual_memory_advise(
    iree_hal_allocator_t* IREE_RESTRICT allocator, iree_hal_buffer_t* IREE_RESTRICT virtual_buffer,
    iree_device_size_t virtual_offset, iree_device_size_t size,
    iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_advice_t advice) {
  return vtableOf<Vtable>(allocator).virtual_memory_advise(
      allocator, virtual_buffer, virtual_offset, size, queue_affinity, advice);
}
