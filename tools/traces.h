// What a program does, as text or on a time line.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tools/device_timeline.h"
#include "vm/context.h"
#include "vm/status.h"

namespace bessemer::tools {

// Prints each operation, a line each.
class TextTracer final : public vm::Tracer {
public:
  explicit TextTracer(std::FILE* file) : file_(file) {}
  void operation(std::string_view text) override;

private:
  std::FILE* file_;
};

// Collects a time line in the trace event format that Perfetto and Chrome read: the calls that the
// user makes, the program's functions in them, and in those each call of an import (a queue's
// submission, a wait); beside them what each device did: operations of its queues from submission
// to end, and each dispatch. May be shared by threads; each has its own track.
class TimelineTracer final : public vm::Tracer {
public:
  // `next` sees the operations as well; may be null.
  explicit TimelineTracer(vm::Tracer* next) : next_(next) {}
  void operation(std::string_view text) override;

  // What the user does: begin and end enclose the program's own work on this thread.
  void begin(std::string_view name);
  void end();

  // Records what the device does from now on, as far as its driver tells.
  vm::Result<void> watch(iree_hal_device_t* device);

  // Ends what is open and writes the file. The devices must be idle.
  vm::Result<void> write(const std::string& path);

private:
  using Clock = std::chrono::steady_clock;
  enum class Kind : uint8_t { User, Function, Import };
  struct Event {
    std::string name;
    Kind kind;
    int64_t begin; // nanoseconds of CLOCK_MONOTONIC
    int64_t end;
    int thread;
  };
  struct Open {
    std::string name;
    Kind kind;
    int64_t begin;
  };
  struct Track {
    std::vector<Open> open;
    std::string callee; // of the last operation, when it was a call
  };

  static int64_t now() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }
  Track& track();
  // Ends the innermost open span.
  void close(Track& track, int64_t time);

  vm::Tracer* next_;
  const int64_t start_ = now();
  std::mutex mutex_;
  std::vector<Event> events_;
  std::vector<std::pair<uint64_t, Track>> tracks_; // by the thread's number
  std::vector<std::unique_ptr<DeviceTimeline>> devices_;
};

} // namespace bessemer::tools
