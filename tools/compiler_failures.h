// What known failures of iree-compile for Metal mean, and what to do.
#pragma once

#include <string>
#include <string_view>

namespace bessemer::tools {

// One line for what the compiler wrote on stderr; `signal` is what ended it, or 0. Empty when it
// is no failure that we know.
std::string explainCompilerFailure(std::string_view diagnostics, int signal);

} // namespace bessemer::tools
