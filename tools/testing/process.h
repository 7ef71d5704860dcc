// Runs the `bessemer` command as a person would.
#pragma once

#include <string>
#include <vector>

namespace bessemer::tools {

struct ProcessResult {
  int exit_code = -1; // 128 + the signal when one ended it
  std::string out;
  std::string err;
};

// `arguments` follow the program's name; "{corpus}" in them is the folder with the test programs.
// Standard input is empty unless `input` is given. `program` empty: bessemer.
ProcessResult runBessemer(std::vector<std::string> arguments, const std::string& input = {},
                          const std::string& program = {});

// The folder with the test programs.
std::string corpus();

// The number of lines of a text.
size_t lineCount(const std::string& text);

} // namespace bessemer::tools
