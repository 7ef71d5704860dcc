// Random kernels that have one right result: every index is in range, every shift and division is
// defined, no two threads touch the same memory without a barrier, barriers stand in uniform
// control flow, and what a shuffle takes from a lane that is not active is never used.
#pragma once

#include "metal/cpu/fuzz/program.h"

namespace bessemer::metal::cpu::fuzz {

/// Elements of each input buffer.
inline constexpr uint32_t kInputElements = 4096;
/// Words of each output buffer for one thread, at most.
inline constexpr uint32_t kResultWords = 64;
inline constexpr uint32_t kStateWords = 8;
inline constexpr uint32_t kCounters = 16;

/// Equal seeds give equal programs, on every machine.
Program generate(uint64_t seed);

} // namespace bessemer::metal::cpu::fuzz
