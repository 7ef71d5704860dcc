#include "hal/drivers/host/hazard_checker.h"

namespace bessemer::hal::host {

iree_status_t HazardChecker::access(std::span<const uint8_t> bytes, bool writes) {
  const uint8_t* begin = bytes.data();
  const uint8_t* end = begin + bytes.size();
  for (const Access& earlier : accesses_) {
    const bool overlaps = begin < earlier.end && earlier.begin < end;
    if (earlier.command == command_ || !overlaps || !(writes || earlier.writes))
      continue;
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "command %u %s bytes that command %u %s, with no barrier between them",
                            command_, writes ? "writes" : "reads", earlier.command,
                            earlier.writes ? "writes" : "reads");
  }
  accesses_.push_back({begin, end, writes, command_});
  return iree_ok_status();
}

void HazardChecker::barrier(std::span<const uint8_t> bytes) {
  std::erase_if(accesses_, [&](const Access& access) {
    return bytes.data() <= access.begin && access.end <= bytes.data() + bytes.size();
  });
}

} // namespace bessemer::hal::host
