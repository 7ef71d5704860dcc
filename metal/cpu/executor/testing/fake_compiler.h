// A compiler for tests of the executor: "compiles" the kernels of kernels.c through the C interface
// of metal/compiler/compiler.h. Source text is a list of their names.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metal/compiler/compiler.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/cpu/executor/pipeline.h"

namespace bessemer::metal::cpu::testing {

const bessemer_compiler_t* fake_compiler(uint32_t abi);

// While closed, compiles of variants for a fixed threadgroup size wait.
void close_compile_gate();
void open_compile_gate();

// Calls of compile_kernel (for code, for a summary) and compile_source so far.
extern std::atomic<uint32_t> kernels_compiled;
extern std::atomic<uint32_t> kernels_summarised;
extern std::atomic<uint32_t> sources_compiled;

// The bytes of kernels.o.
std::span<const uint8_t> kernel_object(bool foreign_calls = false);

// A service with this compiler and no cache; lives until the process ends.
CompilerService& uncached_service();

// The pipeline of one kernel; fails the test when there is none.
std::shared_ptr<Pipeline> make_pipeline(std::string_view kernel,
                                        CompilerService& service = uncached_service());

} // namespace bessemer::metal::cpu::testing
