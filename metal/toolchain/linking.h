// AIR modules to a .metallib.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace bessemer::toolchain {

/// The bytes of the library with every function that the modules list. What a module declares and
/// another defines is joined; a name that two define is an error that tells both modules'.
llvm::Expected<std::string> link(std::vector<std::unique_ptr<llvm::Module>> modules);

} // namespace bessemer::toolchain
