// What decides whether machine code made on one processor runs on another.
#pragma once

#include <string>

namespace bessemer::metal::cpu {

// Model and instruction set extensions that the system enables; differs whenever the compiler could
// choose other instructions for "this machine".
std::string processor_identity();

} // namespace bessemer::metal::cpu
