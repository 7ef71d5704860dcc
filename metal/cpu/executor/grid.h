// Sizes of grids and threadgroups, and how a grid that is no multiple of its threadgroup's size is
// cut into boxes of threadgroups that have one size each.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace bessemer::metal::cpu {

struct Size3 {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;

  // Fits in 64 bits for every threadgroup and for every box of threadgroups that a grid can have.
  uint64_t volume() const { return uint64_t{x} * y * z; }
  friend bool operator==(const Size3&, const Size3&) = default;
};

// A box of threadgroups, in units of threadgroups.
struct Region {
  Size3 origin;
  Size3 size;
  bool whole; // every threadgroup in it has all its threads
};

// The box of whole threadgroups first, then the slabs at the upper ends of x, y and z. Together
// they hold every threadgroup of the grid once.
struct GridRegions {
  std::array<Region, 4> regions;
  uint32_t count = 0;

  std::span<const Region> span() const { return {regions.data(), count}; }
};

// Threadgroups of the grid in each dimension, those with fewer threads at the edges included.
// `threads_per_threadgroup` has no zero.
Size3 threadgroups_per_grid(Size3 threads_per_grid, Size3 threads_per_threadgroup);

// Empty when the grid is empty.
GridRegions split_grid(Size3 threads_per_grid, Size3 threads_per_threadgroup);

} // namespace bessemer::metal::cpu
