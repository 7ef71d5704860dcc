// The three command lines; each returns the exit code. Messages go to stderr, as the programs of
// these names write them: `NAME: error: text`.
#pragma once

#include <string>
#include <vector>

namespace bessemer::toolchain {

/// `metal`: MSL to .air files (-c), to one .metallib, to AIR as text (-S), or preprocessed (-E).
int source_command(const std::vector<std::string>& arguments);

/// `metallib`: .air files to one .metallib.
int library_command(const std::vector<std::string>& arguments);

/// `xcrun`: finds and runs the two above.
int xcrun_command(const std::vector<std::string>& arguments);

} // namespace bessemer::toolchain
