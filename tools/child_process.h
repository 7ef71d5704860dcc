// Another program, run to its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vm/status.h"

namespace bessemer::tools {

struct ChildResult {
  int exit_code = 0;
  int signal = 0; // what ended it, or 0
};

// Runs `arguments[0]` with this process's standard input and output; what it writes to stderr goes
// to `on_stderr` as it comes.
vm::Result<ChildResult> runChild(const std::vector<std::string>& arguments,
                                 const std::function<void(std::string_view)>& on_stderr);

} // namespace bessemer::tools
