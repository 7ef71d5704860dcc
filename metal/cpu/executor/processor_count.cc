#include "metal/cpu/executor/processor_count.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sstream>

namespace bessemer::metal::cpu {

namespace {

// "max 100000" or "150000 100000"; 0 when there is no limit or no file.
double read_quota_v2(const std::string& path) {
  std::ifstream file(path);
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0)
    return 0;
  return std::strtod(quota.c_str(), nullptr) / period;
}

double read_quota_v1(const std::string& directory) {
  double quota = 0, period = 0;
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us");
  std::ifstream period_file(directory + "/cpu.cfs_period_us");
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0)
    return 0;
  return quota / period;
}

bool names_controller(const std::string& controllers, std::string_view wanted) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == wanted)
      return true;
  return false;
}

} // namespace

double cgroup_processor_quota(const std::string& root) {
  double smallest = 0;
  auto take = [&](double quota) {
    if (quota > 0 && (smallest == 0 || quota < smallest))
      smallest = quota;
  };
  std::ifstream groups(root + "/proc/self/cgroup");
  // Lines are hierarchy:controllers:path; version 2 is "0::path".
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    const bool version2 = controllers.empty();
    if (!version2 && !names_controller(controllers, "cpu"))
      continue;
    // A limit on any group above holds too. In a container the path may name a directory that is
    // not mounted here; then only the ones that exist are read.
    for (;;) {
      if (path == "/")
        path.clear();
      take(version2 ? read_quota_v2(root + "/sys/fs/cgroup" + path + "/cpu.max")
                    : read_quota_v1(root + "/sys/fs/cgroup/cpu" + path));
      if (path.empty())
        break;
      path.resize(path.rfind('/') == path.npos ? 0 : path.rfind('/'));
    }
  }
  return smallest;
}

unsigned available_processors() {
  unsigned count = 1;
  // Grown until the kernel's mask fits: machines with more than 1,024 processors.
  for (int capacity = CPU_SETSIZE; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    const size_t size = CPU_ALLOC_SIZE(capacity);
    CPU_ZERO_S(size, set);
    const bool read = sched_getaffinity(0, size, set) == 0;
    if (read)
      count = std::max(1, CPU_COUNT_S(size, set));
    CPU_FREE(set);
    if (read)
      break;
  }
  const double quota = cgroup_processor_quota("");
  if (quota > 0)
    count = std::min(count, std::max(1u, static_cast<unsigned>(std::ceil(quota))));
  return count;
}

} // namespace bessemer::metal::cpu
