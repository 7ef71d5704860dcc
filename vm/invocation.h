// Calls into a context.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vm/context.h"
#include "vm/native_module.h"

namespace bessemer::vm {

// Calls and waits until it is done. `arguments` are checked against the signature; an i32 argument
// also takes a Value of type i64 that fits, and so on is not done: types must be equal, refs may be
// null. `results` is cleared and filled; its capacity is reused.
Result<void> call(const Function& function, std::span<const Value> arguments,
                  std::vector<Value>& results);

// The same into an array of exactly as many values as the function returns.
Result<void> call(const Function& function, std::span<const Value> arguments,
                  std::span<Value> results);

// A call that never blocks: where it must wait it comes back Deferred. One thread at a time may
// touch it. Dropping one that is not done cancels it and releases what it held.
class Invocation {
public:
  enum class Progress : uint8_t { Done, Deferred };

  // Checks the arguments and prepares the call; nothing runs before the first resume().
  static Result<Invocation> begin(const Function& function, std::span<const Value> arguments);
  Invocation(Invocation&&) noexcept;
  Invocation& operator=(Invocation&&) noexcept;
  ~Invocation();

  // Runs until the end, the next wait or the next yield.
  Result<Progress> resume();
  // After Deferred: what to wait for before resuming; null when it only yielded.
  WaitSource* waitSource() const;
  // After Done, once.
  Result<void> takeResults(std::vector<Value>& results);

private:
  struct State;
  explicit Invocation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace bessemer::vm
