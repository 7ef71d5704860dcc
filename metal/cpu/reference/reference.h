// The oracle: runs any kernel of an AIR module one thread at a time. Slow, simple and strict;
// shares nothing with the vectoriser but the reading of AIR.
#pragma once

#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "metal/air/function_constants.h"

namespace bessemer::metal::cpu::reference {

struct Grid {
  // Exact, in threads; a threadgroup at the edge has what is left.
  std::array<uint32_t, 3> threads = {1, 1, 1};
  std::array<uint32_t, 3> threads_per_threadgroup = {1, 1, 1};
  // The last threadgroup first and, where threads never meet, the last thread first: what a program
  // computes must not depend on it.
  bool backwards = false;
};

// How threads run between the places where they meet.
enum class Schedule : uint8_t {
  // One after another: what Metal promises and no more.
  Independent,
  // The lanes of a simdgroup store together: what programs that are written for a GPU lean on where
  // lanes read and write the same memory.
  Lockstep,
};

// One kernel, compiled without optimisation. Not thread safe: threadgroup memory is its own.
class Kernel {
public:
  // `bitcode`: a Module of library.fbs. `constants`: values of function constants.
  static llvm::Expected<std::unique_ptr<Kernel>>
  create(std::span<const uint8_t> bitcode, const std::string& function,
         std::span<const air::ConstantValue> constants = {},
         Schedule schedule = Schedule::Independent);
  // The same from IR that was parsed already, whose context it takes over.
  static llvm::Expected<std::unique_ptr<Kernel>> create(std::unique_ptr<llvm::LLVMContext> context,
                                                        std::unique_ptr<llvm::Module> module,
                                                        const std::string& function,
                                                        Schedule schedule = Schedule::Independent);
  virtual ~Kernel() = default;

  // Bit n: [[buffer(n)]] is an argument.
  virtual uint32_t usedBuffers() const = 0;
  // Runs the grid. `buffers[n]` is the memory of [[buffer(n)]], `threadgroup_bytes[n]` the length
  // of
  // [[threadgroup(n)]]. Static threadgroup memory starts with a pattern, not zeros.
  virtual llvm::Error run(const Grid& grid, std::span<void* const> buffers,
                          std::span<const uint32_t> threadgroup_bytes = {}) = 0;

protected:
  Kernel() = default;
};

} // namespace bessemer::metal::cpu::reference
