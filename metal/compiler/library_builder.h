// From AIR modules to the Library flatbuffer that libMetal keeps.
#pragma once

#include "library_generated.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace bessemer::compiler {

/// Describes the functions that `module` lists and adds its bitcode as one more module of
/// `library`.
llvm::Error add_module(const llvm::Module& module, std::string bitcode, metal::LibraryT& library);

/// Reads a .metallib into `library`: one module for each function, without reading any body.
llvm::Error add_metallib(llvm::ArrayRef<uint8_t> bytes, metal::LibraryT& library);

/// The .metallib with the functions of `library`.
llvm::Expected<std::string> to_metallib(const metal::Library& library);

/// The flatbuffer, functions sorted by name.
std::string finish(metal::LibraryT& library);

} // namespace bessemer::compiler
