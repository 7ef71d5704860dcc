// Slabs of host memory.

#include "iree/hal/memory/cpu_slab_provider.h"

#include <algorithm>
#include <atomic>
#include <new>

namespace {

constexpr iree_host_size_t kSlabAlignment = 4096;

struct CpuSlabProvider {
  iree_hal_slab_provider_t base;
  iree_allocator_t hostAllocator;
  std::atomic<uint64_t> acquired{0};
  std::atomic<uint64_t> released{0};
};

CpuSlabProvider* cast(iree_hal_slab_provider_t* provider) {
  return reinterpret_cast<CpuSlabProvider*>(provider);
}

void destroy(iree_hal_slab_provider_t* base) {
  CpuSlabProvider* provider = cast(base);
  iree_allocator_t hostAllocator = provider->hostAllocator;
  provider->~CpuSlabProvider();
  iree_allocator_free(hostAllocator, provider);
}

iree_status_t acquireSlab(iree_hal_slab_provider_t* base, iree_device_size_t minLength,
                          iree_hal_slab_t* out_slab) {
  if (minLength > IREE_HOST_SIZE_MAX / 2) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "slab of %" PRIdsz " bytes does not fit the address space", minLength);
  }
  void* data = nullptr;
  const auto length = std::max<iree_host_size_t>(1, (iree_host_size_t)minLength);
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_aligned(cast(base)->hostAllocator, length, kSlabAlignment, 0, &data));
  out_slab->base_ptr = static_cast<uint8_t*>(data);
  out_slab->length = length;
  cast(base)->acquired.fetch_add(1, std::memory_order_relaxed);
  return iree_ok_status();
}

void releaseSlab(iree_hal_slab_provider_t* base, const iree_hal_slab_t* slab) {
  iree_allocator_free_aligned(cast(base)->hostAllocator, slab->base_ptr);
  cast(base)->released.fetch_add(1, std::memory_order_relaxed);
}

iree_status_t wrapBuffer(iree_hal_slab_provider_t* base, const iree_hal_slab_t* slab,
                         iree_device_size_t offset, iree_device_size_t size,
                         iree_hal_buffer_params_t params,
                         iree_hal_buffer_release_callback_t releaseCallback,
                         iree_hal_buffer_t** out_buffer) {
  iree_hal_buffer_placement_t placement = iree_hal_buffer_placement_undefined();
  placement.queue_affinity = params.queue_affinity;
  return iree_hal_heap_buffer_wrap(
      placement,
      (params.type & ~IREE_HAL_MEMORY_TYPE_OPTIMAL) | IREE_HAL_MEMORY_TYPE_HOST_LOCAL |
          IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      params.access, params.usage, size,
      iree_make_byte_span(slab->base_ptr + offset, (iree_host_size_t)size), releaseCallback,
      cast(base)->hostAllocator, out_buffer);
}

void prefault(iree_hal_slab_provider_t*, iree_hal_slab_t* slab) {
  // One write per page has the system provide it now.
  for (iree_device_size_t i = 0; i < slab->length; i += kSlabAlignment) {
    static_cast<volatile uint8_t*>(slab->base_ptr)[i] = 0;
  }
}

void trim(iree_hal_slab_provider_t*, iree_hal_slab_provider_trim_flags_t) {}

void queryStats(const iree_hal_slab_provider_t* base, iree_hal_slab_provider_visited_set_t* visited,
                iree_hal_slab_provider_stats_t* out_stats) {
  if (iree_hal_slab_provider_visited(visited, base))
    return;
  const auto* provider = reinterpret_cast<const CpuSlabProvider*>(base);
  out_stats->total_acquired += provider->acquired.load(std::memory_order_relaxed);
  out_stats->total_released += provider->released.load(std::memory_order_relaxed);
}

void queryProperties(const iree_hal_slab_provider_t*, iree_hal_memory_type_t* out_memory_type,
                     iree_hal_buffer_usage_t* out_supported_usage) {
  *out_memory_type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED |
                     IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  *out_supported_usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH |
                         IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT;
}

const iree_hal_slab_provider_vtable_t kVtable = {
    .destroy = destroy,
    .acquire_slab = acquireSlab,
    .release_slab = releaseSlab,
    .wrap_buffer = wrapBuffer,
    .prefault = prefault,
    .trim = trim,
    .query_stats = queryStats,
    .query_properties = queryProperties,
};

} // namespace

iree_status_t iree_hal_cpu_slab_provider_create(iree_allocator_t host_allocator,
                                                iree_hal_slab_provider_t** out_provider) {
  *out_provider = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(CpuSlabProvider), &storage));
  auto* provider = new (storage) CpuSlabProvider();
  iree_hal_slab_provider_initialize(&kVtable, &provider->base);
  provider->hostAllocator = host_allocator;
  *out_provider = &provider->base;
  return iree_ok_status();
}
