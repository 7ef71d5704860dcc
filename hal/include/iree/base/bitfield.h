// Bit fields and their text form: names joined by '|'.

#ifndef IREE_BASE_BITFIELD_H_
#define IREE_BASE_BITFIELD_H_

#include "iree/base/attributes.h"
#include "iree/base/string_builder.h"
#include "iree/base/string_view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define iree_any_bit_set(lhs, rhs) (((lhs) & (rhs)) != 0)
#define iree_all_bits_set(lhs, rhs) (((lhs) & (rhs)) == (rhs))

typedef struct iree_bitfield_string_mapping_t {
  uint32_t bits;
  iree_string_view_t string;
} iree_bitfield_string_mapping_t;

// Names of the mapping, or numbers, joined by '|'; white space around them and letter case do not
// matter. An unknown name is INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_bitfield_parse(iree_string_view_t value,
                                                  iree_host_size_t mapping_count,
                                                  const iree_bitfield_string_mapping_t* mappings,
                                                  uint32_t* out_value);

// Mappings are tried in order, so names of several bits come first. Bits without a name come last,
// as "40h". Zero gives an empty string.
IREE_API_EXPORT iree_status_t iree_bitfield_format(uint32_t value, iree_host_size_t mapping_count,
                                                   const iree_bitfield_string_mapping_t* mappings,
                                                   iree_string_builder_t* string_builder);

typedef struct iree_bitfield_string_temp_t {
  char buffer[128];
} iree_bitfield_string_temp_t;

// Formats into `out_temp`, which must outlive the result.
IREE_API_EXPORT iree_string_view_t iree_bitfield_format_inline(
    uint32_t value, iree_host_size_t mapping_count, const iree_bitfield_string_mapping_t* mappings,
    iree_bitfield_string_temp_t* out_temp);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_BITFIELD_H_
