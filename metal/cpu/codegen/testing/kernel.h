// A kernel of MSL text compiled and loaded in this process, for tests.
#pragma once

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/codegen/codegen.h"
#include "metal/msl/compiler.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/TargetSelect.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace bessemer::metal::cpu::testing {

using Threads = std::array<uint32_t, 3>;

class Kernel {
public:
  // `variant`: threads of a threadgroup the code is made for, all 0 for any.
  Kernel(const std::string& source, const std::string& function, Threads variant,
         uint32_t lanes = 0, const std::string& cpu = {}, const std::string& features = {}) {
    llvm::LLVMContext context;
    msl::Options msl_options;
    msl::Compilation compiled = msl::compile(source, msl_options, context);
    if (!compiled.module) {
      ADD_FAILURE() << compiled.diagnostics;
      return;
    }
    KernelOptions options;
    options.function = function;
    options.threads = variant;
    options.lanes = lanes;
    if (!cpu.empty()) {
      options.triple = host_target().triple;
      options.cpu = cpu;
      options.features = features;
    }
    llvm::Expected<CompiledKernel> kernel = compile_kernel(std::move(compiled.module), options);
    if (!kernel) {
      ADD_FAILURE() << llvm::toString(kernel.takeError());
      return;
    }
    kernel_ = std::move(*kernel);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::StringRef bytes(reinterpret_cast<const char*>(kernel_.bytes.data()),
                          kernel_.bytes.size());
    llvm::cantFail(jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes)));
    entry_ = llvm::cantFail(jit_->lookup(kernel_.entry)).toPtr<bessemer_kernel_entry_t>();
  }

  void run(std::vector<void*> buffers, Threads groups, Threads threads, Threads grid = {0, 0, 0}) {
    if (!entry_)
      return;
    bessemer_dispatch_t dispatch = {};
    for (size_t i = 0; i < buffers.size(); ++i)
      dispatch.buffers[i] = buffers[i];
    uint64_t count = 1, simdgroups = 1;
    for (int d = 0; d < 3; ++d) {
      dispatch.threadgroups_per_grid[d] = dispatch.region_size[d] = groups[size_t(d)];
      dispatch.threads_per_threadgroup[d] = threads[size_t(d)];
      dispatch.threads_per_grid[d] =
          grid[size_t(d)] ? grid[size_t(d)] : groups[size_t(d)] * threads[size_t(d)];
      count *= groups[size_t(d)];
      simdgroups *= threads[size_t(d)];
    }
    simdgroups = (simdgroups + 31) / 32;
    auto allocate = [](uint64_t bytes) {
      bytes = (bytes + 4095) / 4096 * 4096;
      std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(4096, bytes),
                                                         &std::free);
      std::memset(memory.get(), 0xa5, bytes); // contents are not defined
      return memory;
    };
    auto threadgroup_memory = allocate(kernel_.threadgroup_bytes + 64);
    auto frame = allocate(kernel_.frame_bytes * simdgroups + 64);
    // In two calls, as the executor may cut the range anywhere.
    entry_(&dispatch, 0, count / 2, threadgroup_memory.get(), frame.get());
    entry_(&dispatch, count / 2, count, threadgroup_memory.get(), frame.get());
  }

  const CompiledKernel& info() const { return kernel_; }

private:
  CompiledKernel kernel_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  bessemer_kernel_entry_t entry_ = nullptr;
};

/// How often `instruction` stands in the assembly of function `test` for an x86-64 processor.
inline size_t count_instructions(const std::string& source, Threads threads, const char* cpu,
                                 const char* instruction, uint32_t lanes = 0) {
  llvm::LLVMContext context;
  msl::Compilation compiled = msl::compile(source, msl::Options(), context);
  KernelOptions options;
  options.function = "test";
  options.threads = threads;
  options.triple = "x86_64-pc-linux-gnu";
  options.cpu = cpu;
  options.lanes = lanes;
  options.output = KernelOutput::Assembly;
  auto kernel = llvm::cantFail(compile_kernel(std::move(compiled.module), options));
  const std::string text(kernel.bytes.begin(), kernel.bytes.end());
  size_t count = 0;
  for (size_t at = 0; (at = text.find(instruction, at)) != std::string::npos; ++at)
    ++count;
  return count;
}

inline std::vector<unsigned> random_words(size_t count) {
  std::vector<unsigned> words(count);
  unsigned state = 12345;
  for (unsigned& word : words)
    word = state = state * 1664525u + 1013904223u, word ^= state >> 15;
  return words;
}

} // namespace bessemer::metal::cpu::testing
