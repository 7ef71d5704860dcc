// Names of the bits in the HAL's bit fields, and their text form: names joined by `|`, combined
// names before single ones.

#include "iree/hal/api.h"

#include <span>

namespace {

using Mapping = iree_bitfield_string_mapping_t;

constexpr Mapping kMemoryTypes[] = {
    {IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_DEVICE, IREE_SVL("OPTIMAL_FOR_DEVICE")},
    {IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_HOST, IREE_SVL("OPTIMAL_FOR_HOST")},
    {IREE_HAL_MEMORY_TYPE_HOST_LOCAL, IREE_SVL("HOST_LOCAL")},
    {IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, IREE_SVL("DEVICE_LOCAL")},
    {IREE_HAL_MEMORY_TYPE_OPTIMAL, IREE_SVL("OPTIMAL")},
    {IREE_HAL_MEMORY_TYPE_HOST_VISIBLE, IREE_SVL("HOST_VISIBLE")},
    {IREE_HAL_MEMORY_TYPE_HOST_COHERENT, IREE_SVL("HOST_COHERENT")},
    {IREE_HAL_MEMORY_TYPE_HOST_CACHED, IREE_SVL("HOST_CACHED")},
    {IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE, IREE_SVL("DEVICE_VISIBLE")},
};

constexpr Mapping kMemoryAccess[] = {
    {IREE_HAL_MEMORY_ACCESS_ALL, IREE_SVL("ALL")},
    {IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, IREE_SVL("DISCARD_WRITE")},
    {IREE_HAL_MEMORY_ACCESS_READ, IREE_SVL("READ")},
    {IREE_HAL_MEMORY_ACCESS_WRITE, IREE_SVL("WRITE")},
    {IREE_HAL_MEMORY_ACCESS_DISCARD, IREE_SVL("DISCARD")},
    {IREE_HAL_MEMORY_ACCESS_MAY_ALIAS, IREE_SVL("MAY_ALIAS")},
    {IREE_HAL_MEMORY_ACCESS_UNALIGNED, IREE_SVL("UNALIGNED")},
    {IREE_HAL_MEMORY_ACCESS_ANY, IREE_SVL("ANY")},
};

constexpr Mapping kBufferUsage[] = {
    {IREE_HAL_BUFFER_USAGE_TRANSFER, IREE_SVL("TRANSFER")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH, IREE_SVL("DISPATCH")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE, IREE_SVL("DISPATCH_STORAGE")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE, IREE_SVL("DISPATCH_IMAGE")},
    {IREE_HAL_BUFFER_USAGE_MAPPING, IREE_SVL("MAPPING")},
    {IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE, IREE_SVL("TRANSFER_SOURCE")},
    {IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET, IREE_SVL("TRANSFER_TARGET")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS, IREE_SVL("DISPATCH_INDIRECT_PARAMETERS")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ, IREE_SVL("DISPATCH_UNIFORM_READ")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ, IREE_SVL("DISPATCH_STORAGE_READ")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_WRITE, IREE_SVL("DISPATCH_STORAGE_WRITE")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_READ, IREE_SVL("DISPATCH_IMAGE_READ")},
    {IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_WRITE, IREE_SVL("DISPATCH_IMAGE_WRITE")},
    {IREE_HAL_BUFFER_USAGE_SHARING_EXPORT, IREE_SVL("SHARING_EXPORT")},
    {IREE_HAL_BUFFER_USAGE_SHARING_REPLICATE, IREE_SVL("SHARING_REPLICATE")},
    {IREE_HAL_BUFFER_USAGE_SHARING_CONCURRENT, IREE_SVL("SHARING_CONCURRENT")},
    {IREE_HAL_BUFFER_USAGE_SHARING_IMMUTABLE, IREE_SVL("SHARING_IMMUTABLE")},
    {IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED, IREE_SVL("MAPPING_SCOPED")},
    {IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT, IREE_SVL("MAPPING_PERSISTENT")},
    {IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL, IREE_SVL("MAPPING_OPTIONAL")},
    {IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM, IREE_SVL("MAPPING_ACCESS_RANDOM")},
    {IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_SEQUENTIAL_WRITE,
     IREE_SVL("MAPPING_ACCESS_SEQUENTIAL_WRITE")},
};

constexpr Mapping kBufferCompatibility[] = {
    {IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE, IREE_SVL("ALLOCATABLE")},
    {IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE, IREE_SVL("IMPORTABLE")},
    {IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE, IREE_SVL("EXPORTABLE")},
    {IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER, IREE_SVL("QUEUE_TRANSFER")},
    {IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH, IREE_SVL("QUEUE_DISPATCH")},
    {IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE, IREE_SVL("LOW_PERFORMANCE")},
};

constexpr Mapping kSemaphoreCompatibility[] = {
    {IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL, IREE_SVL("ALL")},
    {IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_ONLY, IREE_SVL("HOST_ONLY")},
    {IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_ONLY, IREE_SVL("DEVICE_ONLY")},
    {IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_WAIT, IREE_SVL("HOST_WAIT")},
    {IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT, IREE_SVL("DEVICE_WAIT")},
    {IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_SIGNAL, IREE_SVL("HOST_SIGNAL")},
    {IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_SIGNAL, IREE_SVL("DEVICE_SIGNAL")},
};

constexpr Mapping kCommandBufferMode[] = {
    {IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, IREE_SVL("ONE_SHOT")},
    {IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION, IREE_SVL("ALLOW_INLINE_EXECUTION")},
    {IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED, IREE_SVL("UNVALIDATED")},
    {IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED, IREE_SVL("UNRETAINED")},
    {IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_PROFILE_METADATA, IREE_SVL("RETAIN_PROFILE_METADATA")},
    {IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_DISPATCH_METADATA, IREE_SVL("RETAIN_DISPATCH_METADATA")},
};

constexpr Mapping kCommandCategory[] = {
    {IREE_HAL_COMMAND_CATEGORY_ANY, IREE_SVL("ANY")},
    {IREE_HAL_COMMAND_CATEGORY_TRANSFER, IREE_SVL("TRANSFER")},
    {IREE_HAL_COMMAND_CATEGORY_DISPATCH, IREE_SVL("DISPATCH")},
};

iree_string_view_t format(uint32_t value, std::span<const Mapping> names,
                          iree_bitfield_string_temp_t* temp) {
  return iree_bitfield_format_inline(value, names.size(), names.data(), temp);
}

} // namespace

iree_status_t iree_hal_memory_type_parse(iree_string_view_t value, iree_hal_memory_type_t* out) {
  return iree_bitfield_parse(value, std::size(kMemoryTypes), kMemoryTypes, out);
}

iree_string_view_t iree_hal_memory_type_format(iree_hal_memory_type_t value,
                                               iree_bitfield_string_temp_t* out_temp) {
  return format(value, kMemoryTypes, out_temp);
}

iree_status_t iree_hal_memory_access_parse(iree_string_view_t value,
                                           iree_hal_memory_access_t* out_value) {
  *out_value = IREE_HAL_MEMORY_ACCESS_NONE;
  uint32_t bits = 0;
  IREE_RETURN_IF_ERROR(iree_bitfield_parse(value, std::size(kMemoryAccess), kMemoryAccess, &bits));
  *out_value = static_cast<iree_hal_memory_access_t>(bits);
  return iree_ok_status();
}

iree_string_view_t iree_hal_memory_access_format(iree_hal_memory_access_t value,
                                                 iree_bitfield_string_temp_t* out_temp) {
  return format(value, kMemoryAccess, out_temp);
}

iree_status_t iree_hal_buffer_usage_parse(iree_string_view_t value, iree_hal_buffer_usage_t* out) {
  return iree_bitfield_parse(value, std::size(kBufferUsage), kBufferUsage, out);
}

iree_string_view_t iree_hal_buffer_usage_format(iree_hal_buffer_usage_t value,
                                                iree_bitfield_string_temp_t* out_temp) {
  return format(value, kBufferUsage, out_temp);
}

iree_status_t iree_hal_buffer_compatibility_parse(iree_string_view_t value,
                                                  iree_hal_buffer_compatibility_t* out_value) {
  return iree_bitfield_parse(value, std::size(kBufferCompatibility), kBufferCompatibility,
                             out_value);
}

iree_string_view_t iree_hal_buffer_compatibility_format(iree_hal_buffer_compatibility_t value,
                                                        iree_bitfield_string_temp_t* out_temp) {
  return format(value, kBufferCompatibility, out_temp);
}

iree_status_t
iree_hal_semaphore_compatibility_parse(iree_string_view_t value,
                                       iree_hal_semaphore_compatibility_t* out_value) {
  return iree_bitfield_parse(value, std::size(kSemaphoreCompatibility), kSemaphoreCompatibility,
                             out_value);
}

iree_string_view_t iree_hal_semaphore_compatibility_format(iree_hal_semaphore_compatibility_t value,
                                                           iree_bitfield_string_temp_t* out_temp) {
  return format(value, kSemaphoreCompatibility, out_temp);
}

iree_string_view_t iree_hal_command_buffer_mode_format(iree_hal_command_buffer_mode_t value,
                                                       iree_bitfield_string_temp_t* out_temp) {
  return format(value, kCommandBufferMode, out_temp);
}

iree_string_view_t iree_hal_command_category_format(iree_hal_command_category_t value,
                                                    iree_bitfield_string_temp_t* out_temp) {
  return format(value, kCommandCategory, out_temp);
}
