// Checks a function so that running it needs no checks of registers, ordinals or branches.
#pragma once

#include "vm/bytecode/program.h"

namespace bessemer::vm::bytecode {

// Errors name function, operation and byte offset.
Result<void> verifyFunction(const Program& program, size_t ordinal);

} // namespace bessemer::vm::bytecode
