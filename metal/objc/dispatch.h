// What the assembly of objc_msgSend calls, and the end of an unknown selector.
#pragma once

#include "metal/objc/abi.h"

namespace objc {

struct Target {
  Imp imp;
  Object* receiver; // another object when the first forwards the message
};

extern "C" Target bessemer_objc_find_target(Object* receiver, const Selector* selector);

// Ends the process, naming class and selector.
[[noreturn]] void unrecognized_selector(const Object* receiver, const Selector* selector);

} // namespace objc
