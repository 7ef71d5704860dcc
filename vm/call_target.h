// What a call of a linked function reaches.
#pragma once

#include "vm/native_module.h"

namespace bessemer::vm {

namespace interpreter {
struct FunctionCode;
struct ModuleState;
} // namespace interpreter

struct CallTarget {
  // One of the two; neither for an optional import that nothing provides.
  NativeEntry native = nullptr;
  const interpreter::FunctionCode* code = nullptr;
  NativeState* native_state = nullptr;
  interpreter::ModuleState* state = nullptr;
  const Signature* signature = nullptr;
  bool resolved() const { return native || code; }
};

} // namespace bessemer::vm
