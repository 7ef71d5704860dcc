#include "iree/async/frontier.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace {

using Entry = iree_async_frontier_entry_t;

std::span<const Entry> EntriesOf(const iree_async_frontier_t* frontier) {
  if (!frontier)
    return {};
  return {frontier->entries, frontier->entry_count};
}

// Calls fn(axis, epoch of a, epoch of b) for each axis of either, in order; a missing one is at 0.
template <typename Fn>
void Zip(std::span<const Entry> a, std::span<const Entry> b, Fn fn) {
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->axis < j->axis)) {
      fn(i->axis, i->epoch, uint64_t{0});
      ++i;
    } else if (i == a.end() || j->axis < i->axis) {
      fn(j->axis, uint64_t{0}, j->epoch);
      ++j;
    } else {
      fn(i->axis, i->epoch, j->epoch);
      ++i;
      ++j;
    }
  }
}

} // namespace

iree_status_t iree_async_frontier_validate(const iree_async_frontier_t* frontier) {
  auto entries = EntriesOf(frontier);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].epoch == 0) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "frontier entry %zu is at epoch 0", i);
    }
    if (i > 0 && entries[i - 1].axis >= entries[i].axis) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "frontier entry %zu (axis %016" PRIx64
                              ") does not follow axis %016" PRIx64,
                              i, entries[i].axis, entries[i - 1].axis);
    }
  }
  return iree_ok_status();
}

iree_async_frontier_comparison_t iree_async_frontier_compare(const iree_async_frontier_t* a,
                                                             const iree_async_frontier_t* b) {
  bool a_ahead = false, b_ahead = false;
  Zip(EntriesOf(a), EntriesOf(b), [&](iree_async_axis_t, uint64_t in_a, uint64_t in_b) {
    a_ahead |= in_a > in_b;
    b_ahead |= in_b > in_a;
  });
  if (a_ahead && b_ahead)
    return IREE_ASYNC_FRONTIER_CONCURRENT;
  if (a_ahead)
    return IREE_ASYNC_FRONTIER_AFTER;
  return b_ahead ? IREE_ASYNC_FRONTIER_BEFORE : IREE_ASYNC_FRONTIER_EQUAL;
}

bool iree_async_frontier_merge(iree_async_frontier_t* target, uint8_t target_capacity,
                               const iree_async_frontier_t* source) {
  bool source_dominates = false;
  return iree_async_frontier_merge_and_test_source_dominance(target, target_capacity, source,
                                                             &source_dominates);
}

bool iree_async_frontier_merge_and_test_source_dominance(iree_async_frontier_t* target,
                                                         uint8_t target_capacity,
                                                         const iree_async_frontier_t* source,
                                                         bool* out_source_dominates_target) {
  Entry merged[2 * UINT8_MAX];
  std::size_t count = 0;
  bool dominates = true;
  Zip(EntriesOf(target), EntriesOf(source),
      [&](iree_async_axis_t axis, uint64_t in_target, uint64_t in_source) {
        dominates &= in_source >= in_target;
        merged[count++] = {axis, std::max(in_target, in_source)};
      });
  *out_source_dominates_target = dominates;
  if (count > target_capacity)
    return false;
  std::copy_n(merged, count, target->entries);
  target->entry_count = static_cast<uint8_t>(count);
  return true;
}

bool iree_async_frontier_is_satisfied(const iree_async_frontier_t* frontier,
                                      const iree_async_frontier_entry_t* current_epochs,
                                      iree_host_size_t current_epochs_count) {
  bool satisfied = true;
  Zip(EntriesOf(frontier), {current_epochs, current_epochs_count},
      [&](iree_async_axis_t, uint64_t wanted, uint64_t current) {
        satisfied &= current >= wanted;
      });
  return satisfied;
}

uint8_t iree_async_frontier_find_undominated(const iree_async_frontier_t* reference,
                                             const iree_async_frontier_t* target, uint8_t capacity,
                                             iree_async_frontier_entry_t* out_entries) {
  uint8_t count = 0;
  Zip(EntriesOf(reference), EntriesOf(target),
      [&](iree_async_axis_t axis, uint64_t in_reference, uint64_t in_target) {
        if (in_target <= in_reference)
          return;
        if (count < capacity)
          out_entries[count] = {axis, in_target};
        ++count;
      });
  return count;
}
