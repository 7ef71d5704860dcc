// Errors of libraries, functions and pipelines.
#pragma once

#include <string_view>

#include "metal/foundation/error.h"

extern "C" {
extern ns::String* const MTLLibraryErrorDomain;
extern ns::String* const MTLComputePipelineErrorDomain;
extern ns::String* const MTLBinaryArchiveDomain;
extern ns::String* const MTLDynamicLibraryDomain;
}

namespace mtl {

/// MTLLibraryError.
enum class LibraryErrorCode : ns::Integer {
  Unsupported = 1,
  Internal = 2,
  CompileFailure = 3,
  CompileWarning = 4,
  FunctionNotFound = 5,
  FileNotFound = 6,
};

objc::Ref<ns::Error> library_error(LibraryErrorCode code, std::string_view text);
/// Domain of pipelines; Metal gives code 3 for a kernel that does not compile, 2 for bad input.
objc::Ref<ns::Error> pipeline_error(ns::Integer code, std::string_view text);

} // namespace mtl
