#include "metal/msl/embedded.h"

namespace bessemer::msl {

// The program that makes the precompiled library does not have it.
llvm::StringRef embedded_pch() { return {}; }

} // namespace bessemer::msl
