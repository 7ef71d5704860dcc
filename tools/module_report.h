// What a compiled module (.vmfb) holds, for people and, as JSON, for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/metal/executable_format.h"
#include "vm/bytecode_module.h"
#include "vm/status.h"

namespace bessemer::tools {

// An executable among a module's constants. Views point into the module.
struct Executable {
  size_t rodata = 0; // which constant
  std::string format;
  size_t bytes = 0;
  // Empty for formats that only other runtimes read.
  metal_driver::ExecutableSource source;
};

// Whether a file that begins so is a .metallib.
inline bool isMetallib(std::string_view bytes) { return bytes.starts_with("MTLB"); }

class ModuleReport {
public:
  // Reads and verifies the module; "-" is standard input. Nothing runs.
  static vm::Result<ModuleReport> read(const std::string& path);

  // Tables of the module, its functions, constants and executables.
  std::string text() const;
  // The same as one JSON object.
  std::string json() const;
  // The kernels' MSL text, each after a comment that tells which executable it is of.
  std::string msl() const;
  // Every function's bytecode, an operation a line; or that of one, by its name or number.
  vm::Result<std::string> disassembly(const std::string& function = {}) const;

  const vm::BytecodeModule& module() const { return *module_; }
  const std::vector<Executable>& executables() const { return executables_; }

private:
  ModuleReport() = default;

  std::string path_;
  std::unique_ptr<vm::Instance> instance_;
  std::shared_ptr<vm::BytecodeModule> module_;
  std::vector<Executable> executables_;
};

} // namespace bessemer::tools
