#include "iree/base/string_builder.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "iree/base/printf.h"

namespace {

constexpr iree_host_size_t kMinimumCapacity = 64;

// Only counts: there is no storage, and nothing to get any from.
bool IsDryRun(const iree_string_builder_t* builder) {
  return builder->buffer == nullptr && iree_allocator_is_null(builder->allocator);
}

} // namespace

void iree_string_builder_initialize(iree_allocator_t allocator,
                                    iree_string_builder_t* out_builder) {
  *out_builder = {};
  out_builder->allocator = allocator;
}

void iree_string_builder_initialize_with_storage(char* buffer, iree_host_size_t buffer_capacity,
                                                 iree_string_builder_t* out_builder) {
  *out_builder = {};
  out_builder->allocator = iree_allocator_null();
  out_builder->buffer = buffer;
  out_builder->capacity = buffer_capacity;
  if (buffer && buffer_capacity)
    buffer[0] = 0;
}

void iree_string_builder_deinitialize(iree_string_builder_t* builder) {
  iree_allocator_free(builder->allocator, builder->buffer);
  *builder = {};
}

const char* iree_string_builder_buffer(const iree_string_builder_t* builder) {
  return builder->buffer;
}

iree_host_size_t iree_string_builder_size(const iree_string_builder_t* builder) {
  return builder->size;
}

iree_host_size_t iree_string_builder_capacity(const iree_string_builder_t* builder) {
  return builder->capacity;
}

iree_string_view_t iree_string_builder_view(const iree_string_builder_t* builder) {
  return iree_make_string_view(builder->buffer, builder->size);
}

char* iree_string_builder_take_storage(iree_string_builder_t* builder) {
  char* buffer = builder->buffer;
  builder->buffer = nullptr;
  builder->size = builder->capacity = 0;
  return buffer;
}

iree_status_t iree_string_builder_reserve(iree_string_builder_t* builder,
                                          iree_host_size_t minimum_capacity) {
  if (builder->capacity >= minimum_capacity)
    return iree_ok_status();
  if (iree_allocator_is_null(builder->allocator)) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "a string of %" PRIhsz " bytes does not fit the %" PRIhsz
                            " it was given",
                            minimum_capacity, builder->capacity);
  }
  return iree_allocator_grow_array(builder->allocator, iree_max(minimum_capacity, kMinimumCapacity),
                                   1, &builder->capacity,
                                   reinterpret_cast<void**>(&builder->buffer));
}

iree_status_t iree_string_builder_reserve_for_append(iree_string_builder_t* builder,
                                                     iree_host_size_t minimum_additional_capacity,
                                                     char** out_buffer,
                                                     iree_host_size_t* out_capacity) {
  IREE_RETURN_IF_ERROR(
      iree_string_builder_reserve(builder, builder->size + minimum_additional_capacity + 1));
  *out_buffer = builder->buffer + builder->size;
  *out_capacity = builder->capacity - builder->size;
  return iree_ok_status();
}

void iree_string_builder_commit_append(iree_string_builder_t* builder,
                                       iree_host_size_t append_size) {
  builder->size += append_size;
  if (builder->size < builder->capacity)
    builder->buffer[builder->size] = 0;
}

void iree_string_builder_reset(iree_string_builder_t* builder) {
  builder->size = 0;
  if (builder->capacity)
    builder->buffer[0] = 0;
}

iree_status_t iree_string_builder_append_inline(iree_string_builder_t* builder,
                                                iree_host_size_t count, char** out_head) {
  *out_head = nullptr;
  if (IsDryRun(builder)) {
    builder->size += count;
    return iree_ok_status();
  }
  iree_status_t status = iree_string_builder_reserve(builder, builder->size + count + 1);
  if (iree_status_is_ok(status)) {
    *out_head = builder->buffer + builder->size;
    builder->buffer[builder->size + count] = 0;
  }
  builder->size += count;
  return status;
}

iree_status_t iree_string_builder_append_string(iree_string_builder_t* builder,
                                                iree_string_view_t value) {
  char* head = nullptr;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_inline(builder, value.size, &head));
  if (head && value.size)
    std::memcpy(head, value.data, value.size);
  return iree_ok_status();
}

iree_status_t iree_string_builder_append_cstring(iree_string_builder_t* builder,
                                                 const char* value) {
  return iree_string_builder_append_string(builder, iree_make_cstring_view(value));
}

iree_status_t iree_string_builder_append_format(iree_string_builder_t* builder, const char* format,
                                                ...) {
  va_list varargs;
  va_start(varargs, format);
  int length = iree_vsnprintf(nullptr, 0, format, varargs);
  va_end(varargs);
  if (length < 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "bad format string '%s'", format);
  }
  char* head = nullptr;
  auto size = static_cast<iree_host_size_t>(length);
  IREE_RETURN_IF_ERROR(iree_string_builder_append_inline(builder, size, &head));
  if (head) {
    va_start(varargs, format);
    iree_vsnprintf(head, size + 1, format, varargs);
    va_end(varargs);
  }
  return iree_ok_status();
}

iree_status_t iree_string_builder_append_status(iree_string_builder_t* builder,
                                                iree_status_t status) {
  iree_host_size_t length = 0;
  iree_status_format(status, 0, nullptr, &length);
  char* head = nullptr;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_inline(builder, length, &head));
  if (head)
    iree_status_format(status, length + 1, head, &length);
  return iree_ok_status();
}

void iree_string_pair_builder_initialize(iree_allocator_t allocator,
                                         iree_string_pair_builder_t* out_builder) {
  *out_builder = {};
  out_builder->allocator = allocator;
}

void iree_string_pair_builder_deinitialize(iree_string_pair_builder_t* builder) {
  for (iree_host_size_t i = 0; i < builder->temp_strings_size; ++i) {
    iree_allocator_free(builder->allocator, builder->temp_strings[i]);
  }
  iree_allocator_free(builder->allocator, builder->temp_strings);
  iree_allocator_free(builder->allocator, builder->pairs);
  *builder = {};
}

iree_status_t iree_string_pair_builder_add(iree_string_pair_builder_t* builder,
                                           iree_string_pair_t pair) {
  if (builder->pairs_size == builder->pairs_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(
        builder->allocator, iree_max(8u, builder->pairs_size + 1), sizeof(pair),
        &builder->pairs_capacity, reinterpret_cast<void**>(&builder->pairs)));
  }
  builder->pairs[builder->pairs_size++] = pair;
  return iree_ok_status();
}

iree_status_t iree_string_pair_builder_add_int32(iree_string_pair_builder_t* builder,
                                                 iree_string_view_t key, int32_t value) {
  char text[16];
  int length = std::snprintf(text, sizeof(text), "%d", value);
  iree_string_view_t copy = iree_make_string_view(text, static_cast<iree_host_size_t>(length));
  IREE_RETURN_IF_ERROR(iree_string_pair_builder_emplace_string(builder, &copy));
  return iree_string_pair_builder_add(builder, iree_make_string_pair(key, copy));
}

iree_status_t iree_string_pair_builder_emplace_string(iree_string_pair_builder_t* builder,
                                                      iree_string_view_t* inout_string) {
  if (builder->temp_strings_size == builder->temp_strings_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(
        builder->allocator, iree_max(8u, builder->temp_strings_size + 1), sizeof(char*),
        &builder->temp_strings_capacity, reinterpret_cast<void**>(&builder->temp_strings)));
  }
  void* copy = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(builder->allocator, inout_string->size + 1, &copy));
  builder->temp_strings[builder->temp_strings_size++] = static_cast<char*>(copy);
  iree_string_view_append_to_buffer(*inout_string, inout_string, static_cast<char*>(copy));
  return iree_ok_status();
}
