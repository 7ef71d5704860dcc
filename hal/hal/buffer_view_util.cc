// Buffer views from data and from text, and their text.

#include "iree/hal/buffer_view_util.h"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "hal/hal/text_writer.h"
#include "iree/hal/buffer_transfer.h"
#include "iree/hal/string_util.h"

namespace {

using bessemer::hal::TextWriter;

constexpr iree_host_size_t kMaxParsedRank = 128;

bool isMappable(iree_hal_buffer_t* buffer) {
  return iree_all_bits_set(iree_hal_buffer_memory_type(buffer),
                           IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
         iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer),
                           IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED);
}

/// Has `callback` write straight into `buffer`.
iree_status_t generateInPlace(iree_hal_buffer_t* buffer,
                              iree_hal_buffer_view_generator_callback_t callback, void* user_data) {
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, 0,
                                                 IREE_HAL_WHOLE_BUFFER, &mapping));
  iree_status_t status = callback(&mapping, user_data);
  if (iree_status_is_ok(status) &&
      !iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_HOST_COHERENT)) {
    status = iree_hal_buffer_mapping_flush_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  }
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

/// Has `callback` write into host memory that is then copied to `buffer`.
iree_status_t generateStaged(iree_hal_device_t* device, iree_hal_buffer_t* buffer,
                             iree_hal_buffer_view_generator_callback_t callback, void* user_data) {
  std::vector<uint8_t> staging(iree_hal_buffer_byte_length(buffer));
  iree_hal_buffer_mapping_t mapping;
  std::memset(&mapping, 0, sizeof(mapping));
  mapping.contents = iree_make_byte_span(staging.data(), staging.size());
  mapping.impl.allowed_access = IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE;
  IREE_RETURN_IF_ERROR(callback(&mapping, user_data));
  return iree_hal_device_transfer_h2d(device, staging.data(), buffer, 0, staging.size(),
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                      iree_infinite_timeout());
}

struct ElementText {
  iree_string_view_t text;
  iree_hal_element_type_t type;
};

/// Reads the bytes of a view for printing, through a mapping or through its device.
iree_status_t readContents(iree_hal_buffer_t* buffer, std::vector<uint8_t>* out_contents) {
  out_contents->resize(iree_hal_buffer_byte_length(buffer));
  iree_hal_device_t* device = iree_hal_buffer_allocation_placement(buffer).device;
  if (isMappable(buffer) || !device) {
    return iree_hal_buffer_map_read(buffer, 0, out_contents->data(), out_contents->size());
  }
  return iree_hal_device_transfer_d2h(device, buffer, 0, out_contents->data(), out_contents->size(),
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                      iree_infinite_timeout());
}

} // namespace

iree_status_t iree_hal_buffer_view_allocate_buffer_copy(
    iree_hal_device_t* device, iree_hal_allocator_t* allocator, iree_host_size_t shape_rank,
    const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_hal_buffer_params_t buffer_params,
    iree_const_byte_span_t initial_data, iree_hal_buffer_view_t** out_buffer_view) {
  auto copyData = [](iree_hal_buffer_mapping_t* mapping, void* user_data) -> iree_status_t {
    const auto& data = *static_cast<iree_const_byte_span_t*>(user_data);
    const iree_byte_span_t target = mapping->contents;
    if (data.data_length == 0) {
      if (target.data_length)
        std::memset(target.data, 0, target.data_length);
      return iree_ok_status();
    }
    if (data.data_length > target.data_length) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "%" PRIhsz " bytes of initial data for a view of %" PRIhsz " bytes",
                              data.data_length, target.data_length);
    }
    std::memcpy(target.data, data.data, data.data_length);
    return iree_ok_status();
  };
  return iree_hal_buffer_view_generate_buffer(device, allocator, shape_rank, shape, element_type,
                                              encoding_type, buffer_params, copyData, &initial_data,
                                              out_buffer_view);
}

iree_status_t iree_hal_buffer_view_generate_buffer(
    iree_hal_device_t* device, iree_hal_allocator_t* allocator, iree_host_size_t shape_rank,
    const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_hal_buffer_params_t buffer_params,
    iree_hal_buffer_view_generator_callback_t callback, void* user_data,
    iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = nullptr;
  iree_device_size_t size = 0;
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_compute_view_size(shape_rank, shape, element_type, encoding_type, &size));

  // Map where that is possible and not slow; go through the device elsewhere.
  const iree_hal_buffer_params_t mappedParams =
      iree_hal_buffer_params_with_usage(buffer_params, IREE_HAL_BUFFER_USAGE_MAPPING);
  iree_hal_buffer_params_t actualParams;
  const iree_hal_buffer_compatibility_t compatibility =
      iree_hal_allocator_query_buffer_compatibility(allocator, mappedParams, size, &actualParams,
                                                    nullptr);
  const bool mapped =
      iree_all_bits_set(compatibility, IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE) &&
      iree_all_bits_set(actualParams.type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
      (!device || !iree_any_bit_set(compatibility, IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE));
  if (!mapped && !device) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the buffer cannot be mapped and no device is given to fill it");
  }
  iree_hal_buffer_t* buffer = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(
      allocator,
      mapped
          ? mappedParams
          : iree_hal_buffer_params_with_usage(buffer_params, IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET),
      size, &buffer));
  iree_status_t status = iree_ok_status();
  if (size > 0) {
    // An allocator may round sizes up; the generator sees the view's own.
    iree_hal_buffer_t* exact = nullptr;
    status = iree_hal_buffer_subspan(buffer, 0, size, iree_hal_allocator_host_allocator(allocator),
                                     &exact);
    if (iree_status_is_ok(status)) {
      status = mapped ? generateInPlace(exact, callback, user_data)
                      : generateStaged(device, exact, callback, user_data);
      iree_hal_buffer_release(exact);
    }
  }
  if (iree_status_is_ok(status)) {
    status =
        iree_hal_buffer_view_create(buffer, shape_rank, shape, element_type, encoding_type,
                                    iree_hal_allocator_host_allocator(allocator), out_buffer_view);
  }
  iree_hal_buffer_release(buffer);
  return status;
}

iree_status_t iree_hal_buffer_view_parse(iree_string_view_t value, iree_hal_device_t* device,
                                         iree_hal_allocator_t* device_allocator,
                                         iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = nullptr;
  value = iree_string_view_trim(value);
  if (value.size >= 2 && value.data[0] == '"' && value.data[value.size - 1] == '"') {
    value = iree_string_view_trim(iree_string_view_substr(value, 1, value.size - 2));
  }
  iree_string_view_t typeText = value, elementText = iree_string_view_empty();
  const iree_host_size_t at = iree_string_view_find_char(value, '=', 0);
  if (at != IREE_STRING_VIEW_NPOS) {
    typeText = iree_string_view_substr(value, 0, at);
    elementText = iree_string_view_substr(value, at + 1, IREE_HOST_SIZE_MAX);
  }
  iree_hal_dim_t shape[kMaxParsedRank];
  iree_host_size_t rank = 0;
  ElementText elements = {elementText, IREE_HAL_ELEMENT_TYPE_NONE};
  iree_status_t status = iree_hal_parse_shape_and_element_type(
      iree_string_view_trim(typeText), kMaxParsedRank, &rank, shape, &elements.type);
  if (iree_status_is_out_of_range(status)) {
    iree_status_ignore(status);
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "shapes have at most %" PRIhsz " dimensions, not %" PRIhsz,
                            kMaxParsedRank, rank);
  }
  IREE_RETURN_IF_ERROR(status);

  auto parseElements = [](iree_hal_buffer_mapping_t* mapping, void* user_data) {
    const auto& elements = *static_cast<ElementText*>(user_data);
    return iree_hal_parse_buffer_elements(elements.text, elements.type, mapping->contents);
  };
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
  return iree_hal_buffer_view_generate_buffer(device, device_allocator, rank, shape, elements.type,
                                              IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
                                              parseElements, &elements, out_buffer_view);
}

iree_status_t iree_hal_buffer_view_format(const iree_hal_buffer_view_t* buffer_view,
                                          iree_host_size_t max_element_count,
                                          iree_host_size_t buffer_capacity, char* buffer,
                                          iree_host_size_t* out_buffer_length) {
  if (out_buffer_length)
    *out_buffer_length = 0;
  const iree_host_size_t rank = iree_hal_buffer_view_shape_rank(buffer_view);
  const iree_hal_dim_t* shape = iree_hal_buffer_view_shape_dims(buffer_view);
  const iree_hal_element_type_t type = iree_hal_buffer_view_element_type(buffer_view);
  std::vector<uint8_t> contents;
  IREE_RETURN_IF_ERROR(readContents(iree_hal_buffer_view_buffer(buffer_view), &contents));
  iree_device_size_t size = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_size(
      rank, shape, type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &size));
  if (contents.size() > size)
    contents.resize(size);

  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status = iree_hal_append_shape_and_element_type_string(rank, shape, type, &builder);
  if (iree_status_is_ok(status))
    status = iree_string_builder_append_cstring(&builder, "=");
  if (iree_status_is_ok(status)) {
    status = bessemer::hal::appendFormatted(
        &builder, [&](char* text, iree_host_size_t capacity, iree_host_size_t* length) {
          return iree_hal_format_buffer_elements(
              iree_make_const_byte_span(contents.data(), contents.size()), rank, shape, type,
              max_element_count, capacity, text, length);
        });
  }
  if (iree_status_is_ok(status)) {
    TextWriter writer(buffer, buffer_capacity);
    writer.append(iree_string_builder_view(&builder));
    status = writer.finish(out_buffer_length);
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}

iree_status_t iree_hal_buffer_view_fprint(FILE* file, const iree_hal_buffer_view_t* buffer_view,
                                          iree_host_size_t max_element_count,
                                          iree_allocator_t host_allocator) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(host_allocator, &builder);
  iree_status_t status = iree_hal_buffer_view_append_to_builder(
      const_cast<iree_hal_buffer_view_t*>(buffer_view), max_element_count, &builder);
  if (iree_status_is_ok(status)) {
    const iree_string_view_t text = iree_string_builder_view(&builder);
    if (std::fwrite(text.data, 1, text.size, file) != text.size) {
      status = iree_make_status(IREE_STATUS_DATA_LOSS, "the text could not be written");
    }
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}

iree_status_t iree_hal_buffer_view_append_to_builder(iree_hal_buffer_view_t* buffer_view,
                                                     iree_host_size_t max_element_count,
                                                     iree_string_builder_t* builder) {
  return bessemer::hal::appendFormatted(
      builder, [&](char* text, iree_host_size_t capacity, iree_host_size_t* length) {
        return iree_hal_buffer_view_format(buffer_view, max_element_count, capacity, text, length);
      });
}
