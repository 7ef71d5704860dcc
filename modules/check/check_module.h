// The native module `check`: what programs that test themselves call.
#pragma once

#include <memory>

#include "vm/native_module.h"

namespace bessemer::modules {

// An expectation that does not hold fails the call: FAILED_PRECONDITION, with what was found. The
// HAL's types must be registered.
vm::Result<std::shared_ptr<const vm::NativeModule>> createCheckModule();

} // namespace bessemer::modules
