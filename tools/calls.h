// The calls that a command line asks for, in order.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace bessemer::tools {

// One call: what --function, --input, --output and --expected_output say of it.
struct Call {
  std::string function; // empty: the only sensible one
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> expected;
};

// Flags that describe one call or, for programs that keep state, several: a second --function
// begins a second call, and the flags after it are that call's.
class CallFlags {
public:
  // `several`: more than one --function is taken.
  void addTo(CLI::App& app, bool several);
  // After parsing: at least one.
  std::vector<Call> calls() const;

private:
  const CLI::App* app_ = nullptr;
  CLI::Option* function_ = nullptr;
  CLI::Option* input_ = nullptr;
  CLI::Option* output_ = nullptr;
  CLI::Option* expected_ = nullptr;
};

} // namespace bessemer::tools
