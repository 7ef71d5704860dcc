// Two-level segregated fit (Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic memory allocator
// for real-time systems", ECRTS 2004) over a range of offsets: free blocks are kept in lists by
// size class, two bitmaps find the first class that fits, neighbours are joined when freed. Blocks
// know the frontier of their last users; joining merges frontiers.

#include "iree/hal/memory/tlsf.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace {

using Tlsf = iree_hal_memory_tlsf_t;
using Block = iree_hal_memory_tlsf_block_t;
using Index = iree_hal_memory_tlsf_block_index_t;

constexpr Index kNone = IREE_HAL_MEMORY_TLSF_BLOCK_INDEX_NONE;
constexpr unsigned kSecondLevelBits = IREE_HAL_MEMORY_TLSF_SL_LOG2;

Block& blockAt(const Tlsf* tlsf, Index index) {
  return *reinterpret_cast<Block*>(tlsf->block_storage + index * tlsf->block_stride);
}

iree_async_frontier_t* frontierOf(const Tlsf* tlsf, Index index) {
  return reinterpret_cast<iree_async_frontier_t*>(tlsf->block_storage + index * tlsf->block_stride +
                                                  tlsf->frontier_offset);
}

struct SizeClass {
  unsigned first, second;
};

/// The class whose blocks have at least the length of its lower bound; `length` is in it.
SizeClass classOf(iree_device_size_t length) {
  const unsigned top = std::bit_width(length) - 1;
  if (top < kSecondLevelBits)
    return {0, static_cast<unsigned>(length)};
  const unsigned shift = top - kSecondLevelBits;
  return {shift + 1, static_cast<unsigned>(length >> shift) & (IREE_HAL_MEMORY_TLSF_SL_COUNT - 1)};
}

/// The first class all of whose blocks have `length` bytes or more.
SizeClass searchClassOf(iree_device_size_t length) {
  const unsigned top = std::bit_width(length) - 1;
  if (top < kSecondLevelBits)
    return classOf(length);
  return classOf(length + ((iree_device_size_t{1} << (top - kSecondLevelBits)) - 1));
}

//===--- records of blocks --------------------------------------------------------------------===//

/// Has room for one more record; growing moves all of them.
iree_status_t reserveRecord(Tlsf* tlsf) {
  if (tlsf->unused_node_head != kNone || tlsf->block_count < tlsf->block_capacity) {
    return iree_ok_status();
  }
  const iree_host_size_t capacity = tlsf->block_capacity * 2;
  if (capacity >= kNone) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "no more blocks can be described");
  }
  void* storage = tlsf->block_storage;
  IREE_RETURN_IF_ERROR(
      iree_allocator_realloc_array(tlsf->host_allocator, capacity, tlsf->block_stride, &storage));
  tlsf->block_storage = static_cast<uint8_t*>(storage);
  tlsf->block_capacity = capacity;
  return iree_ok_status();
}

/// A cleared record; there is one after reserveRecord.
Index takeRecord(Tlsf* tlsf) {
  Index index = tlsf->unused_node_head;
  if (index != kNone) {
    tlsf->unused_node_head = blockAt(tlsf, index).next_free;
  } else {
    index = static_cast<Index>(tlsf->block_count++);
  }
  std::memset(&blockAt(tlsf, index), 0, tlsf->block_stride);
  Block& block = blockAt(tlsf, index);
  block.prev_physical = block.next_physical = block.prev_free = block.next_free = kNone;
  return index;
}

void dropRecord(Tlsf* tlsf, Index index) {
  blockAt(tlsf, index).next_free = tlsf->unused_node_head;
  tlsf->unused_node_head = index;
}

//===--- free lists ---------------------------------------------------------------------------===//

void addFree(Tlsf* tlsf, Index index) {
  Block& block = blockAt(tlsf, index);
  const SizeClass at = classOf(block.length);
  Index& head = tlsf->free_lists[at.first][at.second];
  block.flags |= IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_FREE;
  block.prev_free = kNone;
  block.next_free = head;
  if (head != kNone)
    blockAt(tlsf, head).prev_free = index;
  head = index;
  tlsf->fl_bitmap |= uint64_t{1} << at.first;
  tlsf->sl_bitmaps[at.first] |= uint32_t{1} << at.second;
  ++tlsf->free_block_count;
  tlsf->bytes_free += block.length;
}

void removeFree(Tlsf* tlsf, Index index) {
  Block& block = blockAt(tlsf, index);
  const SizeClass at = classOf(block.length);
  Index& head = tlsf->free_lists[at.first][at.second];
  if (block.prev_free != kNone) {
    blockAt(tlsf, block.prev_free).next_free = block.next_free;
  } else {
    head = block.next_free;
  }
  if (block.next_free != kNone)
    blockAt(tlsf, block.next_free).prev_free = block.prev_free;
  if (head == kNone) {
    tlsf->sl_bitmaps[at.first] &= ~(uint32_t{1} << at.second);
    if (!tlsf->sl_bitmaps[at.first])
      tlsf->fl_bitmap &= ~(uint64_t{1} << at.first);
  }
  block.flags &= ~IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_FREE;
  block.prev_free = block.next_free = kNone;
  --tlsf->free_block_count;
  tlsf->bytes_free -= block.length;
}

/// The first block of the smallest class that fits, or none.
Index findFree(const Tlsf* tlsf, iree_device_size_t length) {
  SizeClass at = searchClassOf(length);
  if (at.first >= IREE_HAL_MEMORY_TLSF_FL_COUNT)
    return kNone;
  uint32_t seconds = tlsf->sl_bitmaps[at.first] & (~uint32_t{0} << at.second);
  if (!seconds) {
    const uint64_t firsts = at.first + 1 < IREE_HAL_MEMORY_TLSF_FL_COUNT
                                ? tlsf->fl_bitmap & (~uint64_t{0} << (at.first + 1))
                                : 0;
    if (!firsts)
      return kNone;
    at.first = std::countr_zero(firsts);
    seconds = tlsf->sl_bitmaps[at.first];
  }
  return tlsf->free_lists[at.first][std::countr_zero(seconds)];
}

/// The class below the search class may hold a block that fits after all; worth a look before
/// saying that there is none.
Index findFreeExactClass(const Tlsf* tlsf, iree_device_size_t length) {
  const SizeClass at = classOf(length);
  for (Index index = tlsf->free_lists[at.first][at.second]; index != kNone;
       index = blockAt(tlsf, index).next_free) {
    if (blockAt(tlsf, index).length >= length)
      return index;
  }
  return kNone;
}

//===--- splitting and joining ----------------------------------------------------------------===//

void copyHistory(Tlsf* tlsf, Index from, Index to) {
  iree_async_frontier_t* target = frontierOf(tlsf, to);
  target->entry_count = 0;
  iree_async_frontier_merge(target, tlsf->frontier_capacity, frontierOf(tlsf, from));
  blockAt(tlsf, to).flags |= blockAt(tlsf, from).flags & IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED;
}

/// Cuts the tail beyond `length` off a block that is in no list and frees it.
void splitTail(Tlsf* tlsf, Index index, iree_device_size_t length) {
  const Index tailIndex = takeRecord(tlsf);
  Block& block = blockAt(tlsf, index);
  Block& tail = blockAt(tlsf, tailIndex);
  tail.offset = block.offset + length;
  tail.length = block.length - length;
  tail.prev_physical = index;
  tail.next_physical = block.next_physical;
  if (tail.next_physical != kNone)
    blockAt(tlsf, tail.next_physical).prev_physical = tailIndex;
  tail.flags |= block.flags & IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_LAST;
  block.flags &= ~IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_LAST;
  block.next_physical = tailIndex;
  block.length = length;
  copyHistory(tlsf, index, tailIndex);
  addFree(tlsf, tailIndex);
}

/// Joins `right`, which is in no list, into its left neighbour `left`, which is in none either.
void join(Tlsf* tlsf, Index left, Index right) {
  Block& into = blockAt(tlsf, left);
  Block& gone = blockAt(tlsf, right);
  const bool eitherTainted = (into.flags | gone.flags) & IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED;
  const bool merged = iree_async_frontier_merge(frontierOf(tlsf, left), tlsf->frontier_capacity,
                                                frontierOf(tlsf, right));
  if (eitherTainted || !merged) {
    into.flags |= IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED;
    ++tlsf->tainted_coalesce_count;
  }
  into.length += gone.length;
  into.next_physical = gone.next_physical;
  if (into.next_physical != kNone)
    blockAt(tlsf, into.next_physical).prev_physical = left;
  into.flags |= gone.flags & IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_LAST;
  dropRecord(tlsf, right);
}

bool isFree(const Tlsf* tlsf, Index index) {
  return index != kNone &&
         iree_any_bit_set(blockAt(tlsf, index).flags, IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_FREE);
}

/// Puts an allocated block back, joined with its free neighbours.
void giveBack(Tlsf* tlsf, Index index) {
  tlsf->bytes_allocated -= blockAt(tlsf, index).length;
  --tlsf->allocation_count;
  if (const Index next = blockAt(tlsf, index).next_physical; isFree(tlsf, next)) {
    removeFree(tlsf, next);
    join(tlsf, index, next);
  }
  if (const Index previous = blockAt(tlsf, index).prev_physical; isFree(tlsf, previous)) {
    removeFree(tlsf, previous);
    join(tlsf, previous, index);
    index = previous;
  }
  addFree(tlsf, index);
}

} // namespace

iree_status_t iree_hal_memory_tlsf_initialize(iree_hal_memory_tlsf_options_t options,
                                              iree_allocator_t host_allocator,
                                              iree_hal_memory_tlsf_t* out_tlsf) {
  std::memset(out_tlsf, 0, sizeof(*out_tlsf));
  const iree_device_size_t alignment =
      options.alignment ? options.alignment : IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT;
  if (!std::has_single_bit(alignment) || alignment < IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "alignment %" PRIdsz " is not a power of two of %d or more", alignment,
                            IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT);
  }
  const iree_device_size_t length = options.range_length & ~(alignment - 1);
  if (length == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a range of %" PRIdsz " bytes holds no block of %" PRIdsz,
                            options.range_length, alignment);
  }
  out_tlsf->range_length = length;
  out_tlsf->alignment = alignment;
  out_tlsf->fl_min = static_cast<uint8_t>(classOf(alignment).first);
  out_tlsf->frontier_capacity = options.frontier_capacity
                                    ? options.frontier_capacity
                                    : IREE_HAL_MEMORY_TLSF_DEFAULT_FRONTIER_CAPACITY;
  out_tlsf->frontier_offset = iree_host_align(sizeof(Block), alignof(uint64_t));
  out_tlsf->block_stride = out_tlsf->frontier_offset + sizeof(iree_async_frontier_t) +
                           out_tlsf->frontier_capacity * sizeof(iree_async_frontier_entry_t);
  out_tlsf->block_capacity = std::max<iree_host_size_t>(
      2, options.initial_block_capacity ? options.initial_block_capacity
                                        : IREE_HAL_MEMORY_TLSF_DEFAULT_INITIAL_BLOCK_CAPACITY);
  out_tlsf->unused_node_head = kNone;
  out_tlsf->host_allocator = host_allocator;
  for (auto& lists : out_tlsf->free_lists)
    std::fill(std::begin(lists), std::end(lists), kNone);
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, out_tlsf->block_capacity,
                                                   out_tlsf->block_stride, &storage));
  out_tlsf->block_storage = static_cast<uint8_t*>(storage);
  const Index whole = takeRecord(out_tlsf);
  blockAt(out_tlsf, whole).length = length;
  blockAt(out_tlsf, whole).flags = IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_LAST;
  addFree(out_tlsf, whole);
  return iree_ok_status();
}

void iree_hal_memory_tlsf_deinitialize(iree_hal_memory_tlsf_t* tlsf) {
  iree_allocator_free(tlsf->host_allocator, tlsf->block_storage);
  std::memset(tlsf, 0, sizeof(*tlsf));
}

iree_status_t
iree_hal_memory_tlsf_try_allocate(iree_hal_memory_tlsf_t* tlsf, iree_device_size_t length,
                                  iree_hal_memory_tlsf_allocation_t* out_allocation,
                                  iree_hal_memory_tlsf_allocate_result_t* out_result) {
  std::memset(out_allocation, 0, sizeof(*out_allocation));
  out_allocation->block_index = kNone;
  *out_result = IREE_HAL_MEMORY_TLSF_ALLOCATE_EXHAUSTED;
  if (length == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "an allocation has at least one byte");
  }
  iree_device_size_t aligned = 0;
  if (!iree_device_size_checked_align(length, tlsf->alignment, &aligned)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "length %" PRIdsz " overflows", length);
  }
  if (aligned > tlsf->range_length)
    return iree_ok_status();
  IREE_RETURN_IF_ERROR(reserveRecord(tlsf));
  Index index = findFree(tlsf, aligned);
  if (index == kNone)
    index = findFreeExactClass(tlsf, aligned);
  if (index == kNone)
    return iree_ok_status();
  removeFree(tlsf, index);
  if (blockAt(tlsf, index).length - aligned >= tlsf->alignment)
    splitTail(tlsf, index, aligned);
  const Block& block = blockAt(tlsf, index);
  tlsf->bytes_allocated += block.length;
  ++tlsf->allocation_count;
  out_allocation->offset = block.offset;
  out_allocation->length = block.length;
  out_allocation->block_index = index;
  out_allocation->death_frontier = iree_hal_memory_tlsf_block_death_frontier(tlsf, index);
  out_allocation->block_flags = block.flags;
  *out_result = IREE_HAL_MEMORY_TLSF_ALLOCATE_OK;
  return iree_ok_status();
}

iree_status_t iree_hal_memory_tlsf_allocate(iree_hal_memory_tlsf_t* tlsf, iree_device_size_t length,
                                            iree_hal_memory_tlsf_allocation_t* out_allocation) {
  iree_hal_memory_tlsf_allocate_result_t result;
  IREE_RETURN_IF_ERROR(iree_hal_memory_tlsf_try_allocate(tlsf, length, out_allocation, &result));
  if (result == IREE_HAL_MEMORY_TLSF_ALLOCATE_OK)
    return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                          "no free block of %" PRIdsz " bytes; the largest has %" PRIdsz, length,
                          iree_hal_memory_tlsf_largest_free_block(tlsf));
}

void iree_hal_memory_tlsf_free(iree_hal_memory_tlsf_t* tlsf,
                               iree_hal_memory_tlsf_block_index_t block_index,
                               const iree_async_frontier_t* death_frontier) {
  Block& block = blockAt(tlsf, block_index);
  iree_async_frontier_t* frontier = frontierOf(tlsf, block_index);
  // A caller that never used the block may hand back the frontier it was told to wait for.
  if (death_frontier == frontier)
    return giveBack(tlsf, block_index);
  frontier->entry_count = 0;
  block.flags &= ~IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED;
  if (death_frontier && death_frontier->entry_count > 0 &&
      !iree_async_frontier_merge(frontier, tlsf->frontier_capacity, death_frontier)) {
    block.flags |= IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED;
  }
  giveBack(tlsf, block_index);
}

void iree_hal_memory_tlsf_restore(iree_hal_memory_tlsf_t* tlsf,
                                  iree_hal_memory_tlsf_block_index_t block_index) {
  giveBack(tlsf, block_index);
}

void iree_hal_memory_tlsf_query_stats(const iree_hal_memory_tlsf_t* tlsf,
                                      iree_hal_memory_tlsf_stats_t* out_stats) {
  out_stats->bytes_allocated = tlsf->bytes_allocated;
  out_stats->bytes_free = tlsf->bytes_free;
  out_stats->allocation_count = tlsf->allocation_count;
  out_stats->free_block_count = tlsf->free_block_count;
  out_stats->tainted_coalesce_count = tlsf->tainted_coalesce_count;
}

iree_device_size_t iree_hal_memory_tlsf_largest_free_block(const iree_hal_memory_tlsf_t* tlsf) {
  if (!tlsf->fl_bitmap)
    return 0;
  const unsigned first = std::bit_width(tlsf->fl_bitmap) - 1;
  const unsigned second = std::bit_width(tlsf->sl_bitmaps[first]) - 1;
  iree_device_size_t largest = 0;
  for (Index index = tlsf->free_lists[first][second]; index != kNone;
       index = blockAt(tlsf, index).next_free) {
    largest = std::max(largest, blockAt(tlsf, index).length);
  }
  return largest;
}

const iree_async_frontier_t*
iree_hal_memory_tlsf_block_death_frontier(const iree_hal_memory_tlsf_t* tlsf,
                                          iree_hal_memory_tlsf_block_index_t block_index) {
  const iree_async_frontier_t* frontier = frontierOf(tlsf, block_index);
  return frontier->entry_count > 0 ? frontier : nullptr;
}

iree_hal_memory_tlsf_block_flags_t
iree_hal_memory_tlsf_block_flags(const iree_hal_memory_tlsf_t* tlsf,
                                 iree_hal_memory_tlsf_block_index_t block_index) {
  return blockAt(tlsf, block_index).flags;
}
