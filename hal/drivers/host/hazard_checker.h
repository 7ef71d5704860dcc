#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "iree/base/api.h"

namespace bessemer::hal::host {

/// Finds commands that need a barrier between them and have none: one of the two writes bytes that
/// the other touches. Running in order, the host would get them right all the same; a device that
/// overlaps commands would not.
class HazardChecker {
public:
  /// The accesses that follow belong to another command.
  void nextCommand() { ++command_; }

  /// Notes an access; FAILED_PRECONDITION when an earlier command's has not been ordered before it.
  iree_status_t access(std::span<const uint8_t> bytes, bool writes);

  /// Orders everything before against everything after.
  void barrier() { accesses_.clear(); }
  /// Orders accesses within `bytes`.
  void barrier(std::span<const uint8_t> bytes);

private:
  struct Access {
    const uint8_t* begin;
    const uint8_t* end;
    bool writes;
    uint32_t command;
  };

  /// Since the last barrier that covers them.
  std::vector<Access> accesses_;
  uint32_t command_ = 0;
};

} // namespace bessemer::hal::host
