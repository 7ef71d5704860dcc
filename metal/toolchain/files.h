// Whole files, with "-" for the standard streams.
#pragma once

#include <memory>
#include <string>

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace bessemer::toolchain {

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> read_file(const std::string& path);

/// Replaces the file at once: nobody sees half of it.
llvm::Error write_file(const std::string& path, llvm::StringRef bytes);

/// Prints `NAME: error: ...`; the exit code.
int report(const char* name, llvm::Error error);

} // namespace bessemer::toolchain
