#include "metal/cpu/executor/grid.h"

namespace bessemer::metal::cpu {

static uint32_t divide_up(uint32_t value, uint32_t by) { return value / by + (value % by != 0); }

Size3 threadgroups_per_grid(Size3 threads_per_grid, Size3 threads_per_threadgroup) {
  return {divide_up(threads_per_grid.x, threads_per_threadgroup.x),
          divide_up(threads_per_grid.y, threads_per_threadgroup.y),
          divide_up(threads_per_grid.z, threads_per_threadgroup.z)};
}

GridRegions split_grid(Size3 grid, Size3 group) {
  GridRegions result;
  auto add = [&](Size3 origin, Size3 size, bool whole) {
    if (size.x && size.y && size.z)
      result.regions[result.count++] = {origin, size, whole};
  };
  const Size3 all = threadgroups_per_grid(grid, group);
  const Size3 whole = {grid.x / group.x, grid.y / group.y, grid.z / group.z};
  add({}, whole, true);
  // Each slab leaves out what the ones before it took, so that the corners are counted once.
  add({whole.x, 0, 0}, {all.x - whole.x, all.y, all.z}, false);
  add({0, whole.y, 0}, {whole.x, all.y - whole.y, all.z}, false);
  add({0, 0, whole.z}, {whole.x, whole.y, all.z - whole.z}, false);
  return result;
}

} // namespace bessemer::metal::cpu
