// Ends kernel calls that take too long, so that an endless kernel costs its command list and not
// the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace bessemer::metal::cpu {

class Watchdog {
public:
  // A call is ended when it has run for between one and one and a quarter times the limit.
  explicit Watchdog(int64_t limit_nanoseconds);
  ~Watchdog();

private:
  void run();

  int64_t limit_;
  std::atomic<uint32_t> stopping_{0};
  std::thread thread_;
};

} // namespace bessemer::metal::cpu
