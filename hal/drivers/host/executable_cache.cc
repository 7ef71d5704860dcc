#include "hal/drivers/host/executable_cache.h"

#include "hal/hal/object.h"

namespace bessemer::hal::host {
namespace {

struct HostExecutableCache {
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
};

void destroy(iree_hal_executable_cache_t* base) {
  auto* cache = reinterpret_cast<HostExecutableCache*>(base);
  iree_allocator_free(cache->hostAllocator, cache);
}

iree_status_t inferFormat(iree_hal_executable_cache_t*, iree_hal_executable_caching_mode_t,
                          iree_const_byte_span_t, iree_host_size_t, char*, iree_host_size_t*) {
  return iree_make_status(IREE_STATUS_INCOMPATIBLE, "the host device knows no executable format");
}

bool canPrepareFormat(iree_hal_executable_cache_t*, iree_hal_executable_caching_mode_t,
                      iree_string_view_t) {
  return false;
}

iree_status_t prepareExecutable(iree_hal_executable_cache_t*,
                                const iree_hal_executable_params_t* params,
                                iree_hal_executable_t**) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "the host device runs no executables; this one is of format '%.*s'",
                          (int)params->executable_format.size, params->executable_format.data);
}

const iree_hal_executable_cache_vtable_t kVtable = {
    .destroy = destroy,
    .infer_format = inferFormat,
    .can_prepare_format = canPrepareFormat,
    .prepare_executable = prepareExecutable,
};

} // namespace

iree_status_t createExecutableCache(iree_allocator_t hostAllocator,
                                    iree_hal_executable_cache_t** out_cache) {
  *out_cache = nullptr;
  HostExecutableCache* cache = nullptr;
  IREE_RETURN_IF_ERROR(allocateObject(hostAllocator, 0, &cache));
  iree_hal_resource_initialize(&kVtable, &cache->resource);
  cache->hostAllocator = hostAllocator;
  *out_cache = reinterpret_cast<iree_hal_executable_cache_t*>(cache);
  return iree_ok_status();
}

} // namespace bessemer::hal::host
