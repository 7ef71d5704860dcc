// Modules written in C++. Most functions are bound with native_function.h, which derives the
// calling convention from the C++ signature and does all checking of arguments.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "vm/module.h"

namespace bessemer::vm {

// One argument or result of a native function. References among the arguments are borrowed; those
// among the results are handed to the caller.
union Slot {
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  RawRef ref;
  Slot() : i64(0) {}
};

// Something a deferred call waits for.
class WaitSource {
public:
  using Clock = std::chrono::steady_clock;
  virtual ~WaitSource() = default;
  // Blocks until the call should be resumed (true) or `deadline` has passed (false). A failure of
  // what is waited for counts as ready: the resumed call finds it.
  virtual bool wait(Clock::time_point deadline) = 0;
};

enum class Outcome : uint8_t { Done, Deferred, Failed };

// A module's state in one context.
class NativeState {
public:
  virtual ~NativeState() = default;
};

// What a native function gets.
struct NativeCall {
  NativeState* state = nullptr;
  const Slot* arguments = nullptr; // a span is its count, then its tuples' values in order
  Slot* results = nullptr;         // zeroed
  // Whether the caller waits anyway: then blocking in place is cheaper than deferring.
  bool may_block = false;
  // A call that returned Deferred is made again with the same arguments, with resumed = true and
  // what it left in scratch.
  bool resumed = false;
  uint64_t scratch = 0;
  std::unique_ptr<WaitSource> wait_source; // set before returning Deferred; null: resume any time

  Outcome fail(Error error) {
    error_ = std::make_unique<Error>(std::move(error));
    return Outcome::Failed;
  }
  std::unique_ptr<Error> takeError() { return std::move(error_); }

private:
  std::unique_ptr<Error> error_;
};

using NativeEntry = Outcome (*)(NativeCall& call);

struct NativeFunction {
  std::string_view name;
  std::string_view signature;
  NativeEntry entry = nullptr;
};

class NativeModule : public Module {
public:
  std::string_view name() const override { return name_; }
  uint32_t version() const override { return version_; }
  std::span<const Export> exports() const override { return exports_; }
  const NativeModule* asNative() const final { return this; }

  NativeEntry entry(uint32_t function) const { return entries_[function]; }
  virtual Result<std::unique_ptr<NativeState>> createState() const;

protected:
  // `functions` have static lifetime; an ill-formed signature is a programming error (it aborts).
  NativeModule(std::string name, uint32_t version, std::span<const NativeFunction> functions);

private:
  std::string name_;
  uint32_t version_;
  std::vector<Signature> signatures_;
  std::vector<Export> exports_;
  std::vector<NativeEntry> entries_;
};

} // namespace bessemer::vm
