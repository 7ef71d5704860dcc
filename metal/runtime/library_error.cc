#include "metal/runtime/library_error.h"

extern "C" {
#define DOMAIN_NAME(name, text)                                                                    \
  [[gnu::visibility("default"), gnu::used]] ns::String* const name = ns::literal<text>()

DOMAIN_NAME(MTLLibraryErrorDomain, "MTLLibraryErrorDomain");
DOMAIN_NAME(MTLComputePipelineErrorDomain, "MTLComputePipelineErrorDomain");
DOMAIN_NAME(MTLBinaryArchiveDomain, "MTLBinaryArchiveDomain");
DOMAIN_NAME(MTLDynamicLibraryDomain, "MTLDynamicLibraryDomain");
}

namespace mtl {

objc::Ref<ns::Error> library_error(LibraryErrorCode code, std::string_view text) {
  return ns::error(MTLLibraryErrorDomain, static_cast<ns::Integer>(code), text);
}

objc::Ref<ns::Error> pipeline_error(ns::Integer code, std::string_view text) {
  return ns::error(MTLComputePipelineErrorDomain, code, text);
}

} // namespace mtl
