// Whether the calling thread is about to wait for what it commits, judged by what it did before. A
// thread that waits runs the work itself, so that waking a worker for it would only cost.
#pragma once

#include <cstdint>

namespace bessemer::metal::cpu {

class CommitHabit {
public:
  // This thread commits. True: its last commits were each followed by a wait.
  static bool commit() {
    State& state = current();
    if (state.waits_due)
      state.waited = 0;
    state.waits_due = true;
    return state.waited >= kHabit;
  }

  // This thread begins to wait for committed work.
  static void wait() {
    State& state = current();
    if (state.waits_due && state.waited < kHabit)
      ++state.waited;
    state.waits_due = false;
  }

private:
  static constexpr uint8_t kHabit = 3;

  struct State {
    bool waits_due = false;
    uint8_t waited = 0;
  };

  static State& current() {
    thread_local State state;
    return state;
  }
};

} // namespace bessemer::metal::cpu
