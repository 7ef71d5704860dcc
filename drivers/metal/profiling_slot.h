// The profiling session of a device, while there is one.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace bessemer::metal_driver {

class Profiler;

/// Thread safe; free to ask when nothing is being profiled.
class ProfilingSlot {
public:
  /// NULL outside of a session.
  std::shared_ptr<Profiler> Current() const {
    if (!is_active_.load(std::memory_order_acquire))
      return nullptr;
    std::lock_guard lock(mutex_);
    return profiler_;
  }

  /// Begins or, with NULL, ends a session. Returns the one before.
  std::shared_ptr<Profiler> Set(std::shared_ptr<Profiler> profiler) {
    std::lock_guard lock(mutex_);
    is_active_.store(profiler != nullptr, std::memory_order_release);
    return std::exchange(profiler_, std::move(profiler));
  }

private:
  mutable std::mutex mutex_;
  std::shared_ptr<Profiler> profiler_;
  std::atomic<bool> is_active_{false};
};

} // namespace bessemer::metal_driver
