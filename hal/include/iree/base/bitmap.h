// Sets of small integers as bits in 64-bit words that the caller provides.

#ifndef IREE_BASE_BITMAP_H_
#define IREE_BASE_BITMAP_H_

#include "iree/base/alignment.h"
#include "iree/base/attributes.h"
#include "iree/base/config.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_BITMAP_BITS_PER_WORD (sizeof(uint64_t) * 8)

typedef struct iree_bitmap_t {
  iree_host_size_t bit_count;
  uint64_t* words;
} iree_bitmap_t;

#define iree_bitmap_calculate_words(bit_count)                                                     \
  iree_host_size_ceil_div(bit_count, IREE_BITMAP_BITS_PER_WORD)

IREE_API_EXPORT bool iree_bitmap_any_set(iree_bitmap_t bitmap);
IREE_API_EXPORT bool iree_bitmap_none_set(iree_bitmap_t bitmap);
// How many bits are set.
IREE_API_EXPORT iree_host_size_t iree_bitmap_count(iree_bitmap_t bitmap);
IREE_API_EXPORT bool iree_bitmap_test(iree_bitmap_t bitmap, iree_host_size_t bit_index);

// Spans are cut at the end of the bitmap.
IREE_API_EXPORT void iree_bitmap_set(iree_bitmap_t bitmap, iree_host_size_t bit_index);
IREE_API_EXPORT void iree_bitmap_set_span(iree_bitmap_t bitmap, iree_host_size_t bit_index,
                                          iree_host_size_t bit_length);
IREE_API_EXPORT void iree_bitmap_set_all(iree_bitmap_t bitmap);
IREE_API_EXPORT void iree_bitmap_reset(iree_bitmap_t bitmap, iree_host_size_t bit_index);
IREE_API_EXPORT void iree_bitmap_reset_span(iree_bitmap_t bitmap, iree_host_size_t bit_index,
                                            iree_host_size_t bit_length);
IREE_API_EXPORT void iree_bitmap_reset_all(iree_bitmap_t bitmap);

// From `bit_offset` on; bit_count when there is none.
IREE_API_EXPORT iree_host_size_t iree_bitmap_find_first_set(iree_bitmap_t bitmap,
                                                            iree_host_size_t bit_offset);
IREE_API_EXPORT iree_host_size_t iree_bitmap_find_first_unset(iree_bitmap_t bitmap,
                                                              iree_host_size_t bit_offset);
IREE_API_EXPORT iree_host_size_t iree_bitmap_find_first_unset_span(iree_bitmap_t bitmap,
                                                                   iree_host_size_t bit_offset,
                                                                   iree_host_size_t bit_length);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_BITMAP_H_
