// Reads executables: bytes from anywhere to checked descriptions of functions and libraries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iree/hal/api.h"

namespace bessemer::metal_driver {

/// Most constants and bindings of a function.
constexpr uint32_t kMaxConstantCount = 64;
constexpr uint32_t kMaxBindingCount = 16;

struct LibrarySource {
  /// The bytes of a .metallib, or MSL text.
  std::string_view contents;
  bool is_metallib = false;
  /// MTLLanguageVersion of MSL text.
  uint32_t language_version = 0;
};

struct FunctionSource {
  std::string_view name;
  std::string_view entry_point;
  uint32_t library_ordinal = 0;
  uint32_t threadgroup_size[3] = {1, 1, 1};
  uint32_t constant_count = 0;
  uint32_t binding_count = 0;
};

/// What an executable holds. Views point into the bytes that were read.
struct ExecutableSource {
  std::vector<LibrarySource> libraries;
  std::vector<FunctionSource> functions;
};

/// Whether the driver knows the format: "metal-msl-fb" or its older name "MTLE".
bool IsKnownFormat(iree_string_view_t format);

/// The bytes of an executable in `data`, whose length may be 0 when it is not known. Nothing but
/// the header is checked.
iree_status_t InferExecutableSize(iree_const_byte_span_t data, iree_host_size_t* out_size);

/// Every offset is checked before it is followed.
iree_status_t ReadExecutable(iree_const_byte_span_t data, ExecutableSource* out_source);

} // namespace bessemer::metal_driver
