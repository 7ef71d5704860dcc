// What a program does, as text or on a time line.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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
// submission, a wait). May be shared by threads; each has its own track.
class TimelineTracer final : public vm::Tracer {
public:
  // `next` sees the operations as well; may be null.
  explicit TimelineTracer(vm::Tracer* next) : next_(next) {}
  void operation(std::string_view text) override;

  // What the user does: begin and end enclose the program's own work on this thread.
  void begin(std::string_view name);
  void end();

  // Ends what is open and writes the file.
  vm::Result<void> write(const std::string& path);

private:
  using Clock = std::chrono::steady_clock;
  enum class Kind : uint8_t { User, Function, Import };
  struct Event {
    std::string name;
    Kind kind;
    double begin; // microseconds since the tracer was made
    double end;
    int thread;
  };
  struct Open {
    std::string name;
    Kind kind;
    double begin;
  };
  struct Track {
    std::vector<Open> open;
    std::string callee; // of the last operation, when it was a call
  };

  double now() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
  }
  Track& track();
  // Ends the innermost open span.
  void close(Track& track, double time);

  vm::Tracer* next_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::vector<Event> events_;
  std::vector<std::pair<uint64_t, Track>> tracks_; // by the thread's number
};

} // namespace bessemer::tools
