// Bytecode as text, an operation a line.
#pragma once

#include <string>

#include "vm/bytecode/program.h"

namespace bessemer::vm::bytecode {

// "%i4 = add.i32 %i0, %i2". Ordinals are shown by name where there is one.
std::string disassemble(const Program& program, const Instruction& instruction);

// A verified function: its signature, then every operation behind its offset.
Result<std::string> disassembleFunction(const Program& program, size_t ordinal);

} // namespace bessemer::vm::bytecode
