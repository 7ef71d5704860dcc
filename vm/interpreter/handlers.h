// The handlers of operations: a table for those whose operands are just registers and immediates,
// and the ones that the translator places itself.
#pragma once

#include <array>

#include "vm/bytecode/opcodes.h"
#include "vm/interpreter/accumulators.h"
#include "vm/interpreter/execution.h"

namespace bessemer::vm::interpreter {

using HandlerTable = std::array<HandlerForms, bytecode::kOpCodeCount>;

void addIntegerHandlers(HandlerTable& table);
void addFloatHandlers(HandlerTable& table);
void addReferenceHandlers(HandlerTable& table); // references, globals, constants
void addListHandlers(HandlerTable& table);
void addBufferHandlers(HandlerTable& table);
const HandlerTable& simpleHandlers();

// Compare and branch as one: jumps to the cell after the registers when the comparison is
// `expected`, else goes on. `form` as of the comparison. Accumulators stay as they are. Null when
// `op` has none.
Handler* compareBranchHandler(bytecode::Op op, bool expected, size_t form = 0);
// The same with an addition of the comparison's width before: its registers, those of the
// comparison in the next cell, the target. The sum is in an accumulator then. `compares_sum`: it is
// the comparison's first operand. Null when the two have none.
Handler* addCompareBranchHandler(bytecode::Op add, bytecode::Op comparison, bool expected,
                                 bool compares_sum);

// Control (control.cc). Layouts, after the handler's cell:
Handler jump;                          // target
Handler jumpIf;                        // condition; target
Handler jumpIfNot;                     // condition; target
Handler jumpTable;                     // index, count; default target; count targets
Handler jumpTableNumber;               // the same; the index is in its accumulator
Handler* accumulateHandler(Bank bank); // register, whose value goes to its accumulator
Handler copyWords;                     // count; pairs (source, target + kWideBit), two to a cell
Handler copyRefs;                      // count; pairs (source + kMoveBit, target), two to a cell
// One to four copies of equal width: pairs, two to a cell. With a jump: then the target.
Handler* copyHandler(size_t count, bool wide, bool jumps);
inline constexpr size_t kMaxPlainCopies = 4;
Handler callInternal; // function; words, wide words, refs; offset of the result registers from the
                      // handler's cell; pairs (source, target) in that order; result registers
Handler callImport; // import_call; result registers for a bytecode callee: words, wide words, refs
Handler callReturn; // words, wide words, refs; registers in that order
Handler callReturnNone;
Handler hostReturn;  // ends the run
Handler yieldTo;     // target
Handler failWith;    // status register; text; its length
Handler failAlways;  // what must never be reached
Handler discardRefs; // count; registers, which become null
Handler switchWord;  // index, default, result, count; registers
Handler switchWide;
Handler switchRef;      // the same; type
Handler importResolved; // result; ordinal
Handler traceOperation; // text

} // namespace bessemer::vm::interpreter
