// Strings as pointer and length: not owned, not NUL terminated.

#ifndef IREE_BASE_STRING_VIEW_H_
#define IREE_BASE_STRING_VIEW_H_

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "iree/base/attributes.h"
#include "iree/base/config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_status_handle_t* iree_status_t;

// Result of searches that find nothing, and "to the end" as a length.
#define IREE_STRING_VIEW_NPOS IREE_HOST_SIZE_MAX

// A run of characters that someone else owns.
typedef struct iree_string_view_t {
  const char* data;
  iree_host_size_t size;
} iree_string_view_t;

// The same over characters that may be changed in place.
typedef struct iree_mutable_string_view_t {
  char* data;
  iree_host_size_t size;
} iree_mutable_string_view_t;

// Two strings; in parameter lists a key and its value.
typedef struct iree_string_pair_t {
  union {
    iree_string_view_t first;
    iree_string_view_t key;
  };
  union {
    iree_string_view_t second;
    iree_string_view_t value;
  };
} iree_string_pair_t;

typedef struct iree_string_pair_list_t {
  iree_host_size_t count;
  const iree_string_pair_t* pairs;
} iree_string_pair_list_t;

typedef struct iree_string_view_list_t {
  iree_host_size_t count;
  const iree_string_view_t* values;
} iree_string_view_list_t;

#define iree_string_view_is_empty(sv) ((sv).size == 0 || (sv).data == NULL)
#define iree_mutable_string_view_is_empty(sv) ((sv).size == 0 || (sv).data == NULL)

static inline iree_string_view_t iree_make_string_view(const char* str,
                                                       iree_host_size_t str_length) {
  iree_string_view_t view;
  view.data = str;
  view.size = str_length;
  return view;
}

static inline iree_string_view_t iree_string_view_empty(void) {
  return iree_make_string_view(NULL, 0);
}

// NULL gives the empty view.
static inline iree_string_view_t iree_make_cstring_view(const char* str) {
  return iree_make_string_view(str, str ? strlen(str) : 0);
}

static inline iree_mutable_string_view_t
iree_make_mutable_string_view(char* str, iree_host_size_t str_length) {
  iree_mutable_string_view_t view;
  view.data = str;
  view.size = str_length;
  return view;
}

static inline iree_mutable_string_view_t iree_mutable_string_view_empty(void) {
  return iree_make_mutable_string_view(NULL, 0);
}

static inline iree_string_view_t
iree_make_const_string_view(iree_mutable_string_view_t mutable_view) {
  return iree_make_string_view(mutable_view.data, mutable_view.size);
}

static inline iree_string_pair_t iree_make_string_pair(iree_string_view_t first,
                                                       iree_string_view_t second) {
  iree_string_pair_t pair;
  pair.first = first;
  pair.second = second;
  return pair;
}

static inline iree_string_pair_t iree_make_cstring_pair(const char* first, const char* second) {
  return iree_make_string_pair(iree_make_cstring_view(first), iree_make_cstring_view(second));
}

static inline iree_string_pair_t iree_string_pair_empty(void) {
  return iree_make_string_pair(iree_string_view_empty(), iree_string_view_empty());
}

static inline iree_string_pair_list_t iree_string_pair_list_empty(void) {
  iree_string_pair_list_t list;
  list.count = 0;
  list.pairs = NULL;
  return list;
}

static inline iree_string_view_list_t iree_string_view_list_empty(void) {
  iree_string_view_list_t list;
  list.count = 0;
  list.values = NULL;
  return list;
}

// An initializer for a view of a string literal, usable for static storage.
#define iree_string_view_literal(str) {(str), sizeof(str) - 1}
#define IREE_SVL(cstr) iree_string_view_literal(cstr)
// A view of a NUL terminated string, as an expression.
#define IREE_SV(cstr) iree_make_cstring_view(cstr)

IREE_API_EXPORT bool iree_string_view_equal(iree_string_view_t lhs, iree_string_view_t rhs);
// Equality that takes ASCII letters of either case as the same.
IREE_API_EXPORT bool iree_string_view_equal_case(iree_string_view_t lhs, iree_string_view_t rhs);
// Order by bytes: negative, zero or positive; a prefix comes before what it begins.
IREE_API_EXPORT int iree_string_view_compare(iree_string_view_t lhs, iree_string_view_t rhs);

// Positions at or after `pos`, or IREE_STRING_VIEW_NPOS.
IREE_API_EXPORT iree_host_size_t iree_string_view_find_char(iree_string_view_t value, char c,
                                                            iree_host_size_t pos);
IREE_API_EXPORT iree_host_size_t iree_string_view_find_first_of(iree_string_view_t value,
                                                                iree_string_view_t s,
                                                                iree_host_size_t pos);
// The last position at or before `pos` whose character is one of `s`.
IREE_API_EXPORT iree_host_size_t iree_string_view_find_last_of(iree_string_view_t value,
                                                               iree_string_view_t s,
                                                               iree_host_size_t pos);

IREE_API_EXPORT bool iree_string_view_starts_with(iree_string_view_t value,
                                                  iree_string_view_t prefix);
IREE_API_EXPORT bool iree_string_view_ends_with(iree_string_view_t value,
                                                iree_string_view_t suffix);
// Without the first or last `n` characters; empty when there are no more than that.
IREE_API_EXPORT iree_string_view_t iree_string_view_remove_prefix(iree_string_view_t value,
                                                                  iree_host_size_t n);
IREE_API_EXPORT iree_string_view_t iree_string_view_remove_suffix(iree_string_view_t value,
                                                                  iree_host_size_t n);
// Without the given prefix or suffix, or `value` as it is when it has none.
IREE_API_EXPORT iree_string_view_t iree_string_view_strip_prefix(iree_string_view_t value,
                                                                 iree_string_view_t prefix);
IREE_API_EXPORT iree_string_view_t iree_string_view_strip_suffix(iree_string_view_t value,
                                                                 iree_string_view_t suffix);
// Strip in place; tells whether there was something to strip.
IREE_API_EXPORT bool iree_string_view_consume_prefix(iree_string_view_t* value,
                                                     iree_string_view_t prefix);
IREE_API_EXPORT bool iree_string_view_consume_suffix(iree_string_view_t* value,
                                                     iree_string_view_t suffix);

static inline bool iree_string_view_starts_with_char(iree_string_view_t value, char c) {
  return value.size > 0 && value.data[0] == c;
}

static inline bool iree_string_view_consume_prefix_char(iree_string_view_t* value, char c) {
  if (!iree_string_view_starts_with_char(*value, c))
    return false;
  ++value->data;
  --value->size;
  return true;
}

// Without ASCII white space at both ends.
IREE_API_EXPORT iree_string_view_t iree_string_view_trim(iree_string_view_t value);
// Up to `n` characters from `pos`.
IREE_API_EXPORT iree_string_view_t iree_string_view_substr(iree_string_view_t value,
                                                           iree_host_size_t pos,
                                                           iree_host_size_t n);
// Splits at the first `split_char` and returns its position. Without one returns -1, with all of
// `value` on the left. Outputs may be NULL.
IREE_API_EXPORT intptr_t iree_string_view_split(iree_string_view_t value, char split_char,
                                                iree_string_view_t* out_lhs,
                                                iree_string_view_t* out_rhs);
// Replaces characters in place: the storage behind `value` must be writable.
IREE_API_EXPORT void iree_string_view_replace_char(iree_string_view_t value, char old_char,
                                                   char new_char);
// Matches the whole of `value`: `*` stands for any run of characters, `?` for any one.
IREE_API_EXPORT bool iree_string_view_match_pattern(iree_string_view_t value,
                                                    iree_string_view_t pattern);

// Copies as much as fits and always ends with NUL (given room for it).
IREE_API_EXPORT void iree_string_view_to_cstring(iree_string_view_t value, char* buffer,
                                                 iree_host_size_t buffer_length);
// Copies `source_value` to `buffer`, points `target_value` at the copy, returns its length.
IREE_API_EXPORT iree_host_size_t iree_string_view_append_to_buffer(iree_string_view_t source_value,
                                                                   iree_string_view_t* target_value,
                                                                   char* buffer);

// Numbers: the whole string must be one, else false. Base 0 takes the 0x and 0 prefixes of C.
IREE_API_EXPORT bool iree_string_view_atoi_int32_base(iree_string_view_t value, int base,
                                                      int32_t* out_value);
IREE_API_EXPORT bool iree_string_view_atoi_int32(iree_string_view_t value, int32_t* out_value);
IREE_API_EXPORT bool iree_string_view_atoi_uint32_base(iree_string_view_t value, int base,
                                                       uint32_t* out_value);
IREE_API_EXPORT bool iree_string_view_atoi_uint32(iree_string_view_t value, uint32_t* out_value);
IREE_API_EXPORT bool iree_string_view_atoi_int64_base(iree_string_view_t value, int base,
                                                      int64_t* out_value);
IREE_API_EXPORT bool iree_string_view_atoi_int64(iree_string_view_t value, int64_t* out_value);
IREE_API_EXPORT bool iree_string_view_atoi_uint64_base(iree_string_view_t value, int base,
                                                       uint64_t* out_value);
IREE_API_EXPORT bool iree_string_view_atoi_uint64(iree_string_view_t value, uint64_t* out_value);
IREE_API_EXPORT bool iree_string_view_atof(iree_string_view_t value, float* out_value);
IREE_API_EXPORT bool iree_string_view_atod(iree_string_view_t value, double* out_value);

// Exactly `buffer_length` bytes as pairs of hex digits; white space and '-' may stand between
// bytes.
IREE_API_EXPORT bool iree_string_view_parse_hex_bytes(iree_string_view_t value,
                                                      iree_host_size_t buffer_length,
                                                      uint8_t* out_buffer);
// A size with an optional unit: b, kb, mb, gb (powers of 1,000), kib, mib, gib (of 1,024).
IREE_API_EXPORT iree_status_t iree_string_view_parse_device_size(iree_string_view_t value,
                                                                 iree_device_size_t* out_size);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_STRING_VIEW_H_
