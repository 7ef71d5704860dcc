#include "drivers/metal/executable.h"

#include <atomic>
#include <new>
#include <vector>

namespace bessemer::metal_driver {
namespace {

struct Executable {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  uint64_t id;
  std::vector<ExecutableFunction> functions;

  static Executable* From(iree_hal_executable_t* base) {
    return reinterpret_cast<Executable*>(base);
  }
};

void Destroy(iree_hal_executable_t* base) {
  Executable* executable = Executable::From(base);
  iree_allocator_t host_allocator = executable->host_allocator;
  executable->~Executable();
  iree_allocator_free(host_allocator, executable);
}

iree_host_size_t FunctionCount(iree_hal_executable_t* base) {
  return Executable::From(base)->functions.size();
}

iree_status_t FunctionInfo(iree_hal_executable_t* base, iree_hal_executable_function_t function,
                           iree_hal_executable_function_info_t* out_info) {
  const ExecutableFunction* found = nullptr;
  IREE_RETURN_IF_ERROR(FunctionOf(base, function, &found));
  *out_info = {};
  out_info->name = ToIree(found->name);
  out_info->constant_count = found->constant_count;
  out_info->binding_count = found->binding_count;
  out_info->parameter_count = found->binding_count + (found->constant_count ? 1 : 0);
  std::copy_n(found->threadgroup_size, 3, out_info->workgroup_size);
  return iree_ok_status();
}

/// Bindings first, in order, then all constants as one parameter.
iree_status_t FunctionParameters(iree_hal_executable_t* base,
                                 iree_hal_executable_function_t function, iree_host_size_t capacity,
                                 iree_hal_executable_function_parameter_t* out_parameters) {
  const ExecutableFunction* found = nullptr;
  IREE_RETURN_IF_ERROR(FunctionOf(base, function, &found));
  iree_host_size_t index = 0;
  auto add = [&](iree_hal_executable_function_parameter_type_t type, uint32_t size,
                 uint32_t offset) {
    if (index < capacity) {
      out_parameters[index] = {};
      out_parameters[index].type = type;
      // The largest constants, 256 bytes, are one more than fits.
      out_parameters[index].size = static_cast<uint8_t>(std::min(size, 255u));
      out_parameters[index].offset = static_cast<uint16_t>(offset);
    }
    ++index;
  };
  for (uint32_t binding = 0; binding < found->binding_count; ++binding)
    add(IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING, sizeof(uint64_t), binding);
  if (found->constant_count)
    add(IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT, found->constant_count * 4u, 0);
  return iree_ok_status();
}

iree_status_t LookupFunctionByName(iree_hal_executable_t* base, iree_string_view_t name,
                                   iree_hal_executable_function_t* out_function) {
  Executable* executable = Executable::From(base);
  for (size_t i = 0; i < executable->functions.size(); ++i) {
    if (executable->functions[i].name == ToStd(name)) {
      *out_function = iree_hal_executable_function_from_index(static_cast<uint32_t>(i));
      return iree_ok_status();
    }
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "the executable has no function '%.*s'",
                          static_cast<int>(name.size), name.data);
}

iree_status_t LookupGlobalByName(iree_hal_executable_t*, iree_string_view_t name,
                                 iree_hal_queue_affinity_t, iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "no global '%.*s': Metal libraries have no writable globals",
                          static_cast<int>(name.size), name.data);
}

constexpr iree_hal_executable_vtable_t kVtable = {
    Destroy,
    FunctionCount,
    FunctionInfo,
    FunctionParameters,
    LookupFunctionByName,
    LookupGlobalByName,
};

iree_status_t CreateExecutable(PipelineCache& pipelines, iree_const_byte_span_t data,
                               iree_allocator_t host_allocator,
                               iree_hal_executable_t** out_executable) {
  static_assert(offsetof(Executable, resource) == 0);
  static std::atomic<uint64_t> next_id{1};
  ExecutableSource source;
  IREE_RETURN_IF_ERROR(ReadExecutable(data, &source));
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(Executable), &storage));
  auto* executable = new (storage) Executable{};
  iree_hal_resource_initialize(&kVtable, &executable->resource);
  executable->host_allocator = host_allocator;
  executable->id = next_id++;
  for (const FunctionSource& function : source.functions) {
    ExecutableFunction& added = executable->functions.emplace_back();
    added.name = std::string(function.name);
    added.pipeline = pipelines.Get(source.libraries[function.library_ordinal], function);
    std::copy_n(function.threadgroup_size, 3, added.threadgroup_size);
    added.constant_count = static_cast<uint16_t>(function.constant_count);
    added.binding_count = static_cast<uint16_t>(function.binding_count);
  }
  *out_executable = reinterpret_cast<iree_hal_executable_t*>(executable);
  return iree_ok_status();
}

struct ExecutableCache {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  std::shared_ptr<PipelineCache> pipelines;

  static ExecutableCache* From(iree_hal_executable_cache_t* base) {
    return reinterpret_cast<ExecutableCache*>(base);
  }
};

void DestroyCache(iree_hal_executable_cache_t* base) {
  ExecutableCache* cache = ExecutableCache::From(base);
  iree_allocator_t host_allocator = cache->host_allocator;
  cache->~ExecutableCache();
  iree_allocator_free(host_allocator, cache);
}

iree_status_t InferFormat(iree_hal_executable_cache_t*, iree_hal_executable_caching_mode_t,
                          iree_const_byte_span_t executable_data,
                          iree_host_size_t executable_format_capacity, char* executable_format,
                          iree_host_size_t* out_inferred_size) {
  IREE_RETURN_IF_ERROR(InferExecutableSize(executable_data, out_inferred_size));
  iree_string_view_t format = IREE_SV("metal-msl-fb");
  if (format.size >= executable_format_capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "the name of the format does not fit %" PRIhsz " bytes",
                            executable_format_capacity);
  }
  iree_string_view_to_cstring(format, executable_format, executable_format_capacity);
  return iree_ok_status();
}

bool CanPrepareFormat(iree_hal_executable_cache_t*, iree_hal_executable_caching_mode_t,
                      iree_string_view_t executable_format) {
  return IsKnownFormat(executable_format);
}

iree_status_t PrepareExecutable(iree_hal_executable_cache_t* base,
                                const iree_hal_executable_params_t* executable_params,
                                iree_hal_executable_t** out_executable) {
  ExecutableCache* cache = ExecutableCache::From(base);
  *out_executable = nullptr;
  if (!IsKnownFormat(executable_params->executable_format)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "executables of format '%.*s' are not for Metal",
                            static_cast<int>(executable_params->executable_format.size),
                            executable_params->executable_format.data);
  }
  if (executable_params->constant_count) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "Metal executables have no specialization constants; %" PRIhsz
                            " were given",
                            executable_params->constant_count);
  }
  return CreateExecutable(*cache->pipelines, executable_params->executable_data,
                          cache->host_allocator, out_executable);
}

constexpr iree_hal_executable_cache_vtable_t kCacheVtable = {
    DestroyCache,
    InferFormat,
    CanPrepareFormat,
    PrepareExecutable,
};

} // namespace

iree_status_t CreateExecutableCache(std::shared_ptr<PipelineCache> pipelines,
                                    iree_allocator_t host_allocator,
                                    iree_hal_executable_cache_t** out_cache) {
  static_assert(offsetof(ExecutableCache, resource) == 0);
  *out_cache = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(ExecutableCache), &storage));
  auto* cache = new (storage) ExecutableCache{};
  iree_hal_resource_initialize(&kCacheVtable, &cache->resource);
  cache->host_allocator = host_allocator;
  cache->pipelines = std::move(pipelines);
  *out_cache = reinterpret_cast<iree_hal_executable_cache_t*>(cache);
  return iree_ok_status();
}

bool IsMetalExecutable(iree_hal_executable_t* executable) {
  return iree_hal_resource_is(executable, &kVtable);
}

iree_status_t FunctionOf(iree_hal_executable_t* base, iree_hal_executable_function_t function,
                         const ExecutableFunction** out_function) {
  *out_function = nullptr;
  if (!IsMetalExecutable(base))
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable is not of this driver");
  Executable* executable = Executable::From(base);
  if (!iree_hal_executable_function_is_index_in_range(function, executable->functions.size())) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "function %" PRIu64 " of an executable with %zu", function.value,
                            executable->functions.size());
  }
  *out_function = &executable->functions[iree_hal_executable_function_index(function)];
  return iree_ok_status();
}

std::span<const ExecutableFunction> FunctionsOf(iree_hal_executable_t* executable) {
  return Executable::From(executable)->functions;
}

uint64_t ExecutableId(iree_hal_executable_t* executable) {
  return Executable::From(executable)->id;
}

} // namespace bessemer::metal_driver
