// The native module `io_parameters`: weights that programs keep outside of their own file.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "vm/native_module.h"

namespace bessemer::modules {

struct ParameterFile {
  std::string scope;     // the program's name for the set; empty: answers for every scope not named
  std::string path;      // .irpa, .gguf or .safetensors
  bool writable = false; // lets programs store (io_parameters.scatter)
  bool preload = false;  // reads the file at once instead of where it is first used

  // "scope=path" or "path".
  static ParameterFile parse(std::string_view text);
};

// Files of one scope are searched in order. The HAL's types must be registered.
vm::Result<std::shared_ptr<const vm::NativeModule>>
createParametersModule(std::span<const ParameterFile> files);

} // namespace bessemer::modules
