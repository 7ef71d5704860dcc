// Verified bytecode to threaded code.
#pragma once

#include <memory>
#include <vector>

#include "vm/bytecode/program.h"
#include "vm/interpreter/code.h"

namespace bessemer::vm::interpreter {

// The code of every function of `program`, which must outlive it. With `trace`, each operation is
// preceded by a report to the tracer.
Result<std::vector<std::unique_ptr<FunctionCode>>> translate(const bytecode::Program& program,
                                                             bool trace);

} // namespace bessemer::vm::interpreter
