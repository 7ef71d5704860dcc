// The kernels of a file, and what the compiler makes of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metal/cpu/executor/compiler_service.h"
#include "vm/status.h"

namespace bessemer::tools {

// A library with the sizes its kernels are launched with, where the file tells them.
struct KernelLibrary {
  std::string origin; // "executable #5"; the path of a .metallib or .metal file
  metal::cpu::LibraryTable table;
  struct Kernel {
    std::string function;
    metal::cpu::Size3 threads; // all 0: not told
  };
  std::vector<Kernel> kernels;
};

// Opens the compiler that belongs to libMetal. `fresh`: no disk cache, so that everything is made.
std::unique_ptr<metal::cpu::CompilerService> openCompiler(bool fresh);

// The libraries of a .vmfb, a .metallib or a .metal file (MSL text), by what its bytes are.
// Compiles MSL text; an error of it is clang's, with the file's lines.
vm::Result<std::vector<KernelLibrary>> readKernelLibraries(metal::cpu::CompilerService& compiler,
                                                           const std::string& path);

// A library's functions with arguments and constants.
std::string libraryText(const KernelLibrary& library);
std::string libraryJson(const KernelLibrary& library);

struct KernelSelection {
  std::string name;          // empty: every kernel
  metal::cpu::Size3 threads; // all 0: as the file says
};

// The text of a stage of each selected kernel, one after another. NOT_FOUND when there is none.
vm::Result<std::string> kernelTexts(metal::cpu::CompilerService& compiler,
                                    std::span<const KernelLibrary> libraries,
                                    const KernelSelection& selection, bessemer_output_t output);

// Compiles each selected kernel and tabulates how long the stages took, in milliseconds. Kernels
// that do not compile are told in their row and counted in `*failures`.
vm::Result<std::string> kernelTimes(metal::cpu::CompilerService& compiler,
                                    std::span<const KernelLibrary> libraries,
                                    const KernelSelection& selection, size_t* failures);

} // namespace bessemer::tools
