// Handlers of operations that are a C++ expression of their operands, in all their forms.
#pragma once

#include "vm/interpreter/accumulators.h"

namespace bessemer::vm::interpreter {

template <class In, class Out, auto Operation>
struct Unary {
  template <size_t Form>
  static BESSEMER_VM_HANDLER(handler) {
    BESSEMER_VM_KEEP(Out, 1, Operation(BESSEMER_VM_OPERAND(In, Form, 0)));
    BESSEMER_VM_NEXT(2);
  }
  static HandlerForms forms() { return makeForms<Unary, Out, In>(); }
  static HandlerForms plain() { return makePlain<Unary, Out>(); }
};

template <class Left, class Right, class Out, auto Operation>
struct Binary {
  template <size_t Form>
  static BESSEMER_VM_HANDLER(handler) {
    BESSEMER_VM_KEEP(
        Out, 2, Operation(BESSEMER_VM_OPERAND(Left, Form, 0), BESSEMER_VM_OPERAND(Right, Form, 1)));
    BESSEMER_VM_NEXT(2);
  }
  static HandlerForms forms() { return makeForms<Binary, Out, Left, Right>(); }
  static HandlerForms plain() { return makePlain<Binary, Out>(); }
};

template <class First, class T, auto Operation>
struct Ternary {
  template <size_t Form>
  static BESSEMER_VM_HANDLER(handler) {
    BESSEMER_VM_KEEP(T, 3,
                     Operation(BESSEMER_VM_OPERAND(First, Form, 0), BESSEMER_VM_OPERAND(T, Form, 1),
                               BESSEMER_VM_OPERAND(T, Form, 2)));
    BESSEMER_VM_NEXT(2);
  }
  static HandlerForms forms() { return makeForms<Ternary, T, First, T, T>(); }
};

} // namespace bessemer::vm::interpreter
