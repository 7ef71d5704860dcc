// Metal's headers and their precompiled form, inside this program.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace bessemer::msl {

struct EmbeddedFile {
  llvm::StringRef name; // as `#include` says it: `metal_stdlib`, `simd/simd.h`
  llvm::StringRef text;
};

/// Every header of stdlib/.
llvm::ArrayRef<EmbeddedFile> embedded_headers();

/// The precompiled `metal_stdlib`; empty in the program that makes it.
llvm::StringRef embedded_pch();

/// Where headers and their precompiled form seem to be in the compiler's file system.
inline constexpr char kHeaderDirectory[] = "/bessemer/metal";
inline constexpr char kPchPath[] = "/bessemer/metal_stdlib.pch";

} // namespace bessemer::msl
