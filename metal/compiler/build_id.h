// What this build of the compiler is, for keys of caches.
#pragma once

namespace bessemer::compiler {

/// Changes whenever generated code could: the linker's id of the program or library that holds this
/// function, and LLVM's version. Lives as long as the process.
const char* build_id();

} // namespace bessemer::compiler
