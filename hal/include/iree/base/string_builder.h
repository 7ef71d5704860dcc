// Strings that grow.

#ifndef IREE_BASE_STRING_BUILDER_H_
#define IREE_BASE_STRING_BUILDER_H_

#include <stdbool.h>
#include <string.h>

#include "iree/base/allocator.h"
#include "iree/base/attributes.h"
#include "iree/base/status.h"
#include "iree/base/string_view.h"

#ifdef __cplusplus
extern "C" {
#endif

// A string under construction, always NUL terminated once it has storage.
//
// With fixed storage or with the null allocator appends go on counting `size` when space has run
// out and then fail with RESOURCE_EXHAUSTED; with no storage at all they only count, so that a dry
// run tells the size that is needed.
typedef struct iree_string_builder_t {
  iree_allocator_t allocator;
  char* buffer;
  // Characters, without the NUL.
  iree_host_size_t size;
  // Bytes of `buffer`.
  iree_host_size_t capacity;
} iree_string_builder_t;

IREE_API_EXPORT void iree_string_builder_initialize(iree_allocator_t allocator,
                                                    iree_string_builder_t* out_builder);
// Uses storage that the caller owns and never allocates.
IREE_API_EXPORT void
iree_string_builder_initialize_with_storage(char* buffer, iree_host_size_t buffer_capacity,
                                            iree_string_builder_t* out_builder);
IREE_API_EXPORT void iree_string_builder_deinitialize(iree_string_builder_t* builder);

IREE_API_EXPORT const char* iree_string_builder_buffer(const iree_string_builder_t* builder);
IREE_API_EXPORT iree_host_size_t iree_string_builder_size(const iree_string_builder_t* builder);
IREE_API_EXPORT iree_host_size_t iree_string_builder_capacity(const iree_string_builder_t* builder);
// Valid until the next append.
IREE_API_EXPORT iree_string_view_t iree_string_builder_view(const iree_string_builder_t* builder);
// Hands the storage to the caller (freed with the builder's allocator) and leaves the builder
// empty.
IREE_API_EXPORT IREE_MUST_USE_RESULT char*
iree_string_builder_take_storage(iree_string_builder_t* builder);

// Room for `minimum_capacity` bytes in all, NUL included.
IREE_API_EXPORT iree_status_t iree_string_builder_reserve(iree_string_builder_t* builder,
                                                          iree_host_size_t minimum_capacity);
// Room to write at the end; make what was written count with iree_string_builder_commit_append.
IREE_API_EXPORT iree_status_t iree_string_builder_reserve_for_append(
    iree_string_builder_t* builder, iree_host_size_t minimum_additional_capacity, char** out_buffer,
    iree_host_size_t* out_capacity);
IREE_API_EXPORT void iree_string_builder_commit_append(iree_string_builder_t* builder,
                                                       iree_host_size_t append_size);
// Empties the string and keeps the storage.
IREE_API_EXPORT void iree_string_builder_reset(iree_string_builder_t* builder);

// Adds `count` characters for the caller to fill; *out_head is NULL when only counting.
IREE_API_EXPORT iree_status_t iree_string_builder_append_inline(iree_string_builder_t* builder,
                                                                iree_host_size_t count,
                                                                char** out_head);
IREE_API_EXPORT iree_status_t iree_string_builder_append_string(iree_string_builder_t* builder,
                                                                iree_string_view_t value);
IREE_API_EXPORT iree_status_t iree_string_builder_append_cstring(iree_string_builder_t* builder,
                                                                 const char* value);
IREE_API_EXPORT IREE_PRINTF_ATTRIBUTE(2, 3) iree_status_t
    iree_string_builder_append_format(iree_string_builder_t* builder, const char* format, ...);
// Appends the text of `status`, which stays the caller's.
IREE_API_EXPORT iree_status_t iree_string_builder_append_status(iree_string_builder_t* builder,
                                                                iree_status_t status);

// A growing list of string pairs. Pairs are stored as they are given; strings that would not live
// long enough are copied with iree_string_pair_builder_emplace_string first.
typedef struct iree_string_pair_builder_t {
  iree_allocator_t allocator;
  iree_string_pair_t* pairs;
  iree_host_size_t pairs_size;
  iree_host_size_t pairs_capacity;
  char** temp_strings;
  iree_host_size_t temp_strings_size;
  iree_host_size_t temp_strings_capacity;
} iree_string_pair_builder_t;

IREE_API_EXPORT void iree_string_pair_builder_initialize(iree_allocator_t allocator,
                                                         iree_string_pair_builder_t* out_builder);
IREE_API_EXPORT void iree_string_pair_builder_deinitialize(iree_string_pair_builder_t* builder);

static inline iree_string_pair_t*
iree_string_pair_builder_pairs(iree_string_pair_builder_t* builder) {
  return builder->pairs;
}

static inline iree_host_size_t iree_string_pair_builder_size(iree_string_pair_builder_t* builder) {
  return builder->pairs_size;
}

IREE_API_EXPORT iree_status_t iree_string_pair_builder_add(iree_string_pair_builder_t* builder,
                                                           iree_string_pair_t pair);
IREE_API_EXPORT iree_status_t iree_string_pair_builder_add_int32(
    iree_string_pair_builder_t* builder, iree_string_view_t key, int32_t value);
// Copies the string into the builder and points the view at the copy.
IREE_API_EXPORT iree_status_t iree_string_pair_builder_emplace_string(
    iree_string_pair_builder_t* builder, iree_string_view_t* inout_string);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_STRING_BUILDER_H_
