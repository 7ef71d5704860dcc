// The .metallib container (`MTLB`): a list of functions, each with its own AIR module.
#pragma once

#include "metal/air/signature.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bessemer::air {

/// A function constant as the container's public metadata tells it, without reading any bitcode.
struct MetallibConstant {
  std::string name;
  uint32_t data_type = 0; // MTLDataType
  uint32_t index = 0;
  bool required = true;
};

struct MetallibFunction {
  std::string name;
  uint8_t type = 0; // 0 vertex, 1 fragment, 2 kernel; others exist
  uint16_t air_version[2] = {};
  uint16_t language_version[2] = {};
  // Where in the file; checked against its size. The bitcode is at any alignment.
  uint64_t bitcode_offset = 0;
  uint64_t bitcode_size = 0;
  uint64_t public_offset = 0;
};

/// Reads the function list only; modules and their metadata are read when asked for. Keeps no copy:
/// `bytes` must outlive the object.
class Metallib {
public:
  /// An error that says what is wrong and at which byte, for anything that is not a whole library.
  static llvm::Expected<Metallib> parse(llvm::ArrayRef<uint8_t> bytes);

  const std::vector<MetallibFunction>& functions() const { return functions_; }

  /// The module of a function, as LLVM's bitcode reader takes it.
  llvm::StringRef bitcode(const MetallibFunction& function) const;

  /// The constants that the container lists for a function.
  llvm::Expected<std::vector<MetallibConstant>> constants(const MetallibFunction& function) const;

private:
  explicit Metallib(llvm::ArrayRef<uint8_t> bytes) : bytes_(bytes) {}

  llvm::ArrayRef<uint8_t> bytes_;
  std::vector<MetallibFunction> functions_;
  uint64_t public_end_ = 0;
};

/// What the writer needs of a function.
struct MetallibEntry {
  std::string name;
  FunctionKind kind = FunctionKind::Kernel;
  std::string bitcode; // without Darwin's wrapper
  std::vector<MetallibConstant> constants;
};

struct MetallibVersions {
  uint16_t air[2] = {2, 6};
  uint16_t language[2] = {3, 1};
  uint16_t os[2] = {14, 0};
};

/// A version 2.7 container for macOS with these functions.
std::string write_metallib(llvm::ArrayRef<MetallibEntry> entries,
                           const MetallibVersions& versions = {});

} // namespace bessemer::air
