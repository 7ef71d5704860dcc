// Runs the threads of one threadgroup as fibers, one at a time, until they meet.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "metal/cpu/reference/operations.h"

namespace bessemer::metal::cpu::reference {

// Where a thread stands in the program when it waits: for each loop around it, outermost first, the
// loop's place in the program and how often it went round; then the place itself. Compared element
// by element this orders waiting threads as the program does, so that the lanes of a simdgroup that
// are behind go first, and lanes meet again where their paths join: threads with equal positions
// are at the same place in the same iteration.
using Position = std::vector<uint32_t>;

class Threadgroup {
public:
  // `threads`: how many. `body(index)` is what thread `index` runs.
  Threadgroup(unsigned threads, std::function<void(unsigned)> body);
  ~Threadgroup();
  Threadgroup(const Threadgroup&) = delete;
  Threadgroup& operator=(const Threadgroup&) = delete;

  // Runs all threads to their end. An error says what they wait for where they never all come: a
  // barrier that some threads left out, say.
  std::string run();

  // Called by a thread's body: waits for the threads that take part in the operation. `data` gets
  // its result.
  void meet(const CallShape& shape, CallData& data, std::span<const uint32_t> position);
  unsigned current() const { return current_; }

private:
  struct Fiber;
  void start(unsigned index);
  void resume(unsigned index);
  // Lets the simdgroup's lanes that are furthest behind do their operation; false when all of them
  // are at a barrier or at their end.
  bool serveSimdgroup(unsigned first);

  unsigned count_;
  std::function<void(unsigned)> body_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  unsigned current_ = 0;
};

} // namespace bessemer::metal::cpu::reference
