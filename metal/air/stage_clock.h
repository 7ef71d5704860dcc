// How long the stages of a compile took.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace bessemer::air {

struct StageTime {
  std::string stage;
  uint64_t nanoseconds = 0;
};

/// Measures stages that follow each other on one thread, in CPU time of that thread: what a compile
/// takes on a machine that does nothing else.
class StageClock {
public:
  /// Ends a stage that began with the one before, or with the clock.
  void stage(const char* name) {
    const uint64_t time = now();
    stages_.push_back({name, time - started_});
    started_ = time;
  }
  std::vector<StageTime> take() { return std::move(stages_); }

private:
  static uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
  }

  uint64_t started_ = now();
  std::vector<StageTime> stages_;
};

} // namespace bessemer::air
