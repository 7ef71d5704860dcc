// How many processors this process may use.
#pragma once

#include <string>

namespace bessemer::metal::cpu {

// At least 1: the processors of the affinity mask, and no more than the cgroup's CPU quota (cpu.max
// of version 2, cpu.cfs_* of version 1) rounded up.
unsigned available_processors();

// The smallest quota on the way from the process's cgroup to the root, in processors; 0: none.
// `root` is where the files are looked for ("" on a real system), for tests.
double cgroup_processor_quota(const std::string& root);

} // namespace bessemer::metal::cpu
