// dispatch_time_t: nanoseconds of the steady clock; with the top bit set, minus nanoseconds since
// 1970; 0 is now, all ones is never.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ns {

inline constexpr uint64_t kDispatchNow = 0;
inline constexpr uint64_t kDispatchForever = ~uint64_t{0};

/// Never is a century away.
std::chrono::steady_clock::time_point time_point_of(uint64_t dispatch_time);

/// Waits until `ready` or the time; true when ready.
template <class Predicate>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                uint64_t dispatch_time, Predicate ready) {
  if (dispatch_time == kDispatchForever) {
    changed.wait(lock, ready);
    return true;
  }
  return changed.wait_until(lock, time_point_of(dispatch_time), ready);
}

} // namespace ns
