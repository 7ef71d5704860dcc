#include "drivers/metal/slab_provider.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "drivers/metal/buffer.h"
#include "drivers/metal/profiler.h"

namespace bessemer::metal_driver {
namespace {

/// Freed slabs are kept for the next of their size, as programs ask for the same again and again.
constexpr iree_device_size_t kMaxCachedBytes = iree_device_size_t{256} << 20;

struct SlabProvider {
  iree_hal_slab_provider_t base;
  iree_allocator_t host_allocator;
  iree_hal_device_t* device;
  std::shared_ptr<DeviceMemory> memory;
  iree_hal_buffer_params_t params;
  std::mutex mutex;
  std::vector<MetalPtr<MTL::Buffer>> cached;
  iree_device_size_t cached_bytes = 0;
  iree_hal_slab_provider_stats_t stats = {};

  static SlabProvider* From(iree_hal_slab_provider_t* base) {
    return reinterpret_cast<SlabProvider*>(base);
  }
  static const SlabProvider* From(const iree_hal_slab_provider_t* base) {
    return reinterpret_cast<const SlabProvider*>(base);
  }

  void FreeCached() {
    for (auto& buffer : cached)
      memory->Forget(buffer.get(), params.type, /*is_owned=*/true);
    cached.clear();
    cached_bytes = 0;
    stats.cache.count = 0;
  }
};

void Report(SlabProvider* provider, iree_hal_profile_memory_event_type_t type,
            const MTL::Buffer* handle) {
  std::shared_ptr<Profiler> profiler = provider->memory->profiling().Current();
  if (!profiler)
    return;
  auto event = iree_hal_profile_memory_event_default();
  event.type = type;
  event.result = IREE_STATUS_OK;
  event.backing_id = reinterpret_cast<uintptr_t>(handle);
  event.memory_type = provider->params.type;
  event.buffer_usage = provider->params.usage;
  event.length = handle->length();
  profiler->RecordMemory(event);
}

void Destroy(iree_hal_slab_provider_t* base) {
  SlabProvider* provider = SlabProvider::From(base);
  provider->FreeCached();
  iree_allocator_t host_allocator = provider->host_allocator;
  provider->~SlabProvider();
  iree_allocator_free(host_allocator, provider);
}

iree_status_t AcquireSlab(iree_hal_slab_provider_t* base, iree_device_size_t min_length,
                          iree_hal_slab_t* out_slab) {
  SlabProvider* provider = SlabProvider::From(base);
  iree_device_size_t length = min_length;
  iree_hal_buffer_params_t params = provider->params;
  if (!provider->memory->Resolve(params, length))
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "slab size overflows");
  MetalPtr<MTL::Buffer> handle;
  {
    std::lock_guard lock(provider->mutex);
    auto fits = [&](const MetalPtr<MTL::Buffer>& buffer) {
      return buffer->length() >= length && buffer->length() - length <= length / 8;
    };
    auto found = std::find_if(provider->cached.begin(), provider->cached.end(), fits);
    if (found != provider->cached.end()) {
      handle = std::move(*found);
      provider->cached.erase(found);
      provider->cached_bytes -= handle->length();
    }
    ++(handle ? provider->stats.cache.hit_count : provider->stats.cache.miss_count);
    ++provider->stats.total_acquired;
    provider->stats.cache.count = static_cast<uint32_t>(provider->cached.size());
  }
  if (!handle) {
    IREE_RETURN_IF_ERROR(provider->memory->Allocate(params, length, &handle));
    provider->memory->Adopt(handle.get(), params.type, /*is_owned=*/true);
  }
  Report(provider, IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_SLAB_ACQUIRE, handle.get());
  out_slab->base_ptr = static_cast<uint8_t*>(handle->contents());
  out_slab->length = handle->length();
  out_slab->provider_handle = reinterpret_cast<uint64_t>(handle->retain());
  return iree_ok_status();
}

MTL::Buffer* HandleOf(const iree_hal_slab_t* slab) {
  return reinterpret_cast<MTL::Buffer*>(slab->provider_handle);
}

void ReleaseSlab(iree_hal_slab_provider_t* base, const iree_hal_slab_t* slab) {
  SlabProvider* provider = SlabProvider::From(base);
  auto handle = TakeMetal(HandleOf(slab));
  Report(provider, IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_SLAB_RELEASE, handle.get());
  std::lock_guard lock(provider->mutex);
  ++provider->stats.total_released;
  if (provider->cached_bytes + handle->length() <= kMaxCachedBytes) {
    provider->cached_bytes += handle->length();
    provider->cached.push_back(std::move(handle));
  } else {
    provider->memory->Forget(handle.get(), provider->params.type, /*is_owned=*/true);
  }
  provider->stats.cache.count = static_cast<uint32_t>(provider->cached.size());
}

iree_status_t WrapBuffer(iree_hal_slab_provider_t* base, const iree_hal_slab_t* slab,
                         iree_device_size_t slab_offset, iree_device_size_t allocation_size,
                         iree_hal_buffer_params_t params,
                         iree_hal_buffer_release_callback_t release_callback,
                         iree_hal_buffer_t** out_buffer) {
  SlabProvider* provider = SlabProvider::From(base);
  *out_buffer = nullptr;
  if (slab_offset > slab->length || allocation_size > slab->length - slab_offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "%" PRIdsz " bytes at %" PRIdsz " of a slab of %" PRIdsz,
                            allocation_size, slab_offset, slab->length);
  }
  iree_device_size_t size = allocation_size;
  if (!provider->memory->Resolve(params, size))
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "slabs do not have such memory");
  BufferOptions options;
  options.placement = {provider->device, params.queue_affinity, IREE_HAL_BUFFER_PLACEMENT_FLAG_NONE,
                       0};
  options.params = params;
  options.allocation_size = allocation_size;
  options.byte_length = allocation_size;
  options.handle_offset = slab_offset;
  options.adopts_handle = false;
  options.release_callback = release_callback;
  options.host_allocator = provider->host_allocator;
  return CreateBuffer(options, provider->memory, RetainMetal(HandleOf(slab)), out_buffer);
}

void Prefault(iree_hal_slab_provider_t*, iree_hal_slab_t*) {}

void Trim(iree_hal_slab_provider_t* base, iree_hal_slab_provider_trim_flags_t) {
  SlabProvider* provider = SlabProvider::From(base);
  std::lock_guard lock(provider->mutex);
  provider->FreeCached();
}

void QueryStats(const iree_hal_slab_provider_t* base, iree_hal_slab_provider_visited_set_t* visited,
                iree_hal_slab_provider_stats_t* out_stats) {
  if (iree_hal_slab_provider_visited(visited, base))
    return;
  SlabProvider* provider = const_cast<SlabProvider*>(SlabProvider::From(base));
  std::lock_guard lock(provider->mutex);
  out_stats->total_acquired += provider->stats.total_acquired;
  out_stats->total_released += provider->stats.total_released;
  out_stats->cache.count += provider->stats.cache.count;
  out_stats->cache.hit_count += provider->stats.cache.hit_count;
  out_stats->cache.miss_count += provider->stats.cache.miss_count;
}

void QueryProperties(const iree_hal_slab_provider_t* base, iree_hal_memory_type_t* out_memory_type,
                     iree_hal_buffer_usage_t* out_supported_usage) {
  const SlabProvider* provider = SlabProvider::From(base);
  *out_memory_type = provider->params.type;
  *out_supported_usage = provider->params.usage;
}

constexpr iree_hal_slab_provider_vtable_t kVtable = {
    Destroy, AcquireSlab, ReleaseSlab, WrapBuffer, Prefault, Trim, QueryStats, QueryProperties,
};

} // namespace

iree_status_t CreateSlabProvider(iree_hal_device_t* device, std::shared_ptr<DeviceMemory> memory,
                                 iree_allocator_t host_allocator,
                                 iree_hal_slab_provider_t** out_provider) {
  static_assert(offsetof(SlabProvider, base) == 0);
  *out_provider = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(SlabProvider), &storage));
  auto* provider = new (storage) SlabProvider{};
  iree_hal_slab_provider_initialize(&kVtable, &provider->base);
  provider->host_allocator = host_allocator;
  provider->device = device;
  provider->memory = std::move(memory);
  provider->params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH |
                           IREE_HAL_BUFFER_USAGE_SHARING_REPLICATE |
                           IREE_HAL_BUFFER_USAGE_SHARING_CONCURRENT |
                           IREE_HAL_BUFFER_USAGE_SHARING_IMMUTABLE;
  iree_device_size_t size = 0;
  provider->params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  provider->memory->Resolve(provider->params, size);
  *out_provider = &provider->base;
  return iree_ok_status();
}

} // namespace bessemer::metal_driver
