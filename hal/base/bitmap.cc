#include "iree/base/bitmap.h"

#include <algorithm>
#include <bit>

namespace {

constexpr iree_host_size_t kWordBits = IREE_BITMAP_BITS_PER_WORD;

// Calls fn(word, mask) for each word that the span touches, with the bits of the span in it.
template <typename Fn>
void ForEachWord(iree_bitmap_t bitmap, iree_host_size_t bit_index, iree_host_size_t bit_length,
                 Fn fn) {
  if (bit_index >= bitmap.bit_count)
    return;
  iree_host_size_t end = bit_index + std::min(bit_length, bitmap.bit_count - bit_index);
  while (bit_index < end) {
    iree_host_size_t bit = bit_index % kWordBits;
    iree_host_size_t count = std::min(kWordBits - bit, end - bit_index);
    uint64_t mask = (count == kWordBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit;
    if (!fn(bitmap.words[bit_index / kWordBits], mask))
      return;
    bit_index += count;
  }
}

template <bool kSet>
iree_host_size_t FindFirst(iree_bitmap_t bitmap, iree_host_size_t bit_offset) {
  iree_host_size_t base = bit_offset / kWordBits * kWordBits;
  iree_host_size_t result = bitmap.bit_count;
  ForEachWord(bitmap, bit_offset, bitmap.bit_count, [&](uint64_t word, uint64_t mask) {
    uint64_t found = (kSet ? word : ~word) & mask;
    if (found) {
      result = base + static_cast<iree_host_size_t>(std::countr_zero(found));
      return false;
    }
    base += kWordBits;
    return true;
  });
  return result;
}

} // namespace

bool iree_bitmap_any_set(iree_bitmap_t bitmap) {
  return iree_bitmap_find_first_set(bitmap, 0) < bitmap.bit_count;
}

bool iree_bitmap_none_set(iree_bitmap_t bitmap) { return !iree_bitmap_any_set(bitmap); }

iree_host_size_t iree_bitmap_count(iree_bitmap_t bitmap) {
  iree_host_size_t count = 0;
  ForEachWord(bitmap, 0, bitmap.bit_count, [&](uint64_t word, uint64_t mask) {
    count += static_cast<iree_host_size_t>(std::popcount(word & mask));
    return true;
  });
  return count;
}

bool iree_bitmap_test(iree_bitmap_t bitmap, iree_host_size_t bit_index) {
  return bit_index < bitmap.bit_count &&
         (bitmap.words[bit_index / kWordBits] >> bit_index % kWordBits & 1);
}

void iree_bitmap_set(iree_bitmap_t bitmap, iree_host_size_t bit_index) {
  iree_bitmap_set_span(bitmap, bit_index, 1);
}

void iree_bitmap_set_span(iree_bitmap_t bitmap, iree_host_size_t bit_index,
                          iree_host_size_t bit_length) {
  ForEachWord(bitmap, bit_index, bit_length, [](uint64_t& word, uint64_t mask) {
    word |= mask;
    return true;
  });
}

void iree_bitmap_set_all(iree_bitmap_t bitmap) {
  iree_bitmap_set_span(bitmap, 0, bitmap.bit_count);
}

void iree_bitmap_reset(iree_bitmap_t bitmap, iree_host_size_t bit_index) {
  iree_bitmap_reset_span(bitmap, bit_index, 1);
}

void iree_bitmap_reset_span(iree_bitmap_t bitmap, iree_host_size_t bit_index,
                            iree_host_size_t bit_length) {
  ForEachWord(bitmap, bit_index, bit_length, [](uint64_t& word, uint64_t mask) {
    word &= ~mask;
    return true;
  });
}

void iree_bitmap_reset_all(iree_bitmap_t bitmap) {
  iree_bitmap_reset_span(bitmap, 0, bitmap.bit_count);
}

iree_host_size_t iree_bitmap_find_first_set(iree_bitmap_t bitmap, iree_host_size_t bit_offset) {
  return FindFirst<true>(bitmap, bit_offset);
}

iree_host_size_t iree_bitmap_find_first_unset(iree_bitmap_t bitmap, iree_host_size_t bit_offset) {
  return FindFirst<false>(bitmap, bit_offset);
}

iree_host_size_t iree_bitmap_find_first_unset_span(iree_bitmap_t bitmap,
                                                   iree_host_size_t bit_offset,
                                                   iree_host_size_t bit_length) {
  iree_host_size_t begin = iree_bitmap_find_first_unset(bitmap, bit_offset);
  while (begin < bitmap.bit_count && bit_length <= bitmap.bit_count - begin) {
    iree_host_size_t end = iree_bitmap_find_first_set(bitmap, begin);
    if (end - begin >= bit_length)
      return begin;
    begin = iree_bitmap_find_first_unset(bitmap, end);
  }
  return bitmap.bit_count;
}
