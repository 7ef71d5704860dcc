// A kernel compiled for another kind of processor, run by a program for it (kernel_runner.cc).
#pragma once

#include <array>
#include <expected>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "metal/cpu/executor/compiler_library.h"
#include "tests/kernels/kernel_job.h"

namespace bessemer::kernels {

// How to make and run foreign code.
struct ForeignTarget {
  std::string triple; // LLVM's, "aarch64-linux-gnu"
  std::string cpu;
  std::string runner; // command line that runs the job whose path is added to it
};

class ForeignKernel {
public:
  ForeignKernel(const ForeignTarget& target, std::span<const uint8_t> bitcode, std::string function,
                const std::array<uint32_t, 3>& threads);

  // Runs `job`, which lacks code, over `regions` of job.filled bytes each. What went wrong, or
  // empty.
  std::string run(KernelJob job, bool distinct_buffers, std::span<uint8_t* const> regions);

private:
  std::expected<std::vector<uint8_t>, std::string> compile(bool distinct_buffers);

  const ForeignTarget& target_;
  metal::cpu::CompilerLibrary compiler_;
  std::span<const uint8_t> bitcode_;
  std::string function_;
  std::array<uint32_t, 3> threads_;
  std::map<bool, std::vector<uint8_t>> code_; // Kernel tables, by whether buffers are distinct
};

} // namespace bessemer::kernels
