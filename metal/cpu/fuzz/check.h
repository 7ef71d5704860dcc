// Runs a program by the vectoriser, at every width that it can have, and by the reference executor.
#pragma once

#include "metal/cpu/fuzz/program.h"

#include <string>

namespace bessemer::metal::cpu::fuzz {

struct Finding {
  enum class Kind : uint8_t {
    None, ///< all results agree
    Difference,
    Error,   ///< code generation refused the program
    Invalid, ///< the front end or the reference refused it: the generator's own fault
  };
  Kind kind = Kind::None;
  std::string what; ///< which code, where, and both values
  unsigned compiled = 0;
};

/// Prepares what all programs share; children that are forked afterwards start warm.
void prepare();

Finding check(const Program& program);

} // namespace bessemer::metal::cpu::fuzz
