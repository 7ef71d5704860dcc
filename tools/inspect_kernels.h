// The part of `bessemer inspect` that asks the compiler of Metal for Linux.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/command.h"

namespace bessemer::tools {

struct InspectFlags {
  std::string file;
  bool json = false;
  std::string output;
  std::string function;
  bool msl = false;
  bool disassemble = false;
  bool time = false;
  bool assembly = false;
  bool air = false;
  bool vector_ir = false;
  std::string kernel;
  std::vector<uint32_t> threads;
};

// A library's functions, or what the compiler makes of the file's kernels, on stdout.
CommandResult inspectKernels(const InspectFlags& flags);

} // namespace bessemer::tools
