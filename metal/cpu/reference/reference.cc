#include "metal/cpu/reference/reference.h"

#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <vector>

#include "metal/air/module.h"
#include "metal/cpu/reference/lower.h"
#include "metal/cpu/reference/threads.h"

namespace bessemer::metal::cpu::reference {

namespace orc = llvm::orc;

namespace {

// What runs on this host thread right now; calls out of kernels find their way by it.
struct Running {
  Threadgroup* threadgroup = nullptr; // null: threads never meet, and run straight
  unsigned thread = 0;
};
thread_local Running running;

void invoke(const CallShape* shape, const void* operands, void* result, const uint32_t* position,
            uint32_t count) {
  CallData data{static_cast<const uint8_t*>(operands), static_cast<uint8_t*>(result)};
  if (isCollective(shape->intrinsic.group)) {
    running.threadgroup->meet(*shape, data, {position, count});
    return;
  }
  if (shape->intrinsic.group == air::OperationGroup::Thread) {
    const unsigned thread = running.threadgroup ? running.threadgroup->current() : running.thread;
    writeInteger(shape->result, data.result, 0,
                 shape->intrinsic.operation == air::Operation::GetSimdgroupSize
                     ? kSimdgroup
                     : thread % kSimdgroup);
    return;
  }
  evaluate(*shape, data);
}

// What code may call for 16-bit floating point where the processor has no instruction.
float extendHalf(uint16_t bits) {
  uint8_t data[2];
  std::memcpy(data, &bits, 2);
  return static_cast<float>(readFloat({Format::Half, 16, false, 1}, data, 0));
}
uint16_t truncate(Format format, double value) {
  uint8_t data[2];
  writeFloat({format, 16, false, 1}, data, 0, value);
  uint16_t bits;
  std::memcpy(&bits, data, 2);
  return bits;
}
uint16_t truncateHalf(float value) { return truncate(Format::Half, value); }
uint16_t truncateHalfDouble(double value) { return truncate(Format::Half, value); }
uint16_t truncateBFloat(float value) { return truncate(Format::BFloat, value); }

llvm::Expected<std::unique_ptr<orc::LLJIT>> makeJit() {
  static const bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  return orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
}

class JitKernel final : public Kernel {
public:
  llvm::Error compile(std::unique_ptr<llvm::LLVMContext> context,
                      std::unique_ptr<llvm::Module> module, const std::string& function,
                      Schedule schedule) {
    auto jit = makeJit();
    if (!jit)
      return jit.takeError();
    jit_ = std::move(*jit);
    air::normalise(*module, jit_->getTargetTriple().str(),
                   jit_->getDataLayout().getStringRepresentation());
    auto lowered = lower(*module, function, schedule == Schedule::Lockstep);
    if (!lowered)
      return lowered.takeError();
    lowered_ = std::move(*lowered);
    orc::SymbolMap symbols;
    auto add = [&](const char* name, auto* address) {
      symbols[jit_->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                              llvm::JITSymbolFlags::Exported |
                                                  llvm::JITSymbolFlags::Callable};
    };
    add(kInvokeSymbol, &invoke);
    add("__extendhfsf2", &extendHalf);
    add("__gnu_h2f_ieee", &extendHalf);
    add("__truncsfhf2", &truncateHalf);
    add("__gnu_f2h_ieee", &truncateHalf);
    add("__truncdfhf2", &truncateHalfDouble);
    add("__truncsfbf2", &truncateBFloat);
    if (auto error = jit_->getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))))
      return error;
    if (auto error =
            jit_->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))))
      return error;
    auto entry = jit_->lookup(lowered_.entry);
    if (!entry)
      return entry.takeError();
    entry_ = entry->toPtr<void (*)(ThreadArguments*)>();
    for (const auto& [name, size] : lowered_.threadgroup_memory) {
      auto address = jit_->lookup(name);
      if (!address)
        return address.takeError();
      threadgroup_memory_.emplace_back(address->toPtr<uint8_t*>(), size);
    }
    return llvm::Error::success();
  }

  uint32_t usedBuffers() const override { return lowered_.used_buffers; }

  llvm::Error run(const Grid& grid, std::span<void* const> buffers,
                  std::span<const uint32_t> threadgroup_bytes) override {
    ThreadArguments base{};
    for (size_t i = 0; i < buffers.size() && i < kMaxBuffers; ++i)
      base.buffers[i] = buffers[i];
    std::vector<std::unique_ptr<uint8_t[]>> memory;
    for (size_t i = 0; i < threadgroup_bytes.size() && i < kMaxBuffers; ++i) {
      memory.push_back(std::make_unique<uint8_t[]>(threadgroup_bytes[i] + 64));
      const auto address = reinterpret_cast<uintptr_t>(memory.back().get());
      base.threadgroup[i] = reinterpret_cast<void*>((address + 63) & ~uintptr_t{63});
    }
    std::array<uint32_t, 3> groups{};
    for (unsigned i = 0; i < 3; ++i) {
      const uint64_t size = grid.threads_per_threadgroup[i];
      groups[i] = static_cast<uint32_t>((grid.threads[i] + size - 1) / size);
    }
    const uint64_t count = uint64_t{groups[0]} * groups[1] * groups[2];
    for (uint64_t n = 0; n < count; ++n) {
      const uint64_t index = grid.backwards ? count - 1 - n : n;
      const std::array<uint32_t, 3> at = {static_cast<uint32_t>(index % groups[0]),
                                          static_cast<uint32_t>(index / groups[0] % groups[1]),
                                          static_cast<uint32_t>(index / groups[0] / groups[1])};
      for (auto [address, size] : threadgroup_memory_)
        std::memset(address, 0xCD, size);
      for (size_t i = 0; i < memory.size(); ++i)
        std::memset(base.threadgroup[i], 0xCD, threadgroup_bytes[i]);
      if (auto error = runThreadgroup(base, grid, groups, at))
        return error;
    }
    return llvm::Error::success();
  }

private:
  llvm::Error runThreadgroup(const ThreadArguments& base, const Grid& grid,
                             const std::array<uint32_t, 3>& groups,
                             const std::array<uint32_t, 3>& at) {
    std::array<uint32_t, 3> size{};
    for (unsigned i = 0; i < 3; ++i)
      size[i] = std::min(grid.threads_per_threadgroup[i],
                         grid.threads[i] - at[i] * grid.threads_per_threadgroup[i]);
    const unsigned count = size[0] * size[1] * size[2];
    std::vector<ThreadArguments> threads(count, base);
    for (unsigned i = 0; i < count; ++i)
      setBuiltins(threads[i], grid, groups, at, size, i);
    if (!lowered_.collective) {
      running.threadgroup = nullptr;
      for (unsigned n = 0; n < count; ++n) {
        running.thread = grid.backwards ? count - 1 - n : n;
        entry_(&threads[running.thread]);
      }
      return llvm::Error::success();
    }
    Threadgroup threadgroup(count, [&](unsigned index) { entry_(&threads[index]); });
    running.threadgroup = &threadgroup;
    std::string problem = threadgroup.run();
    running.threadgroup = nullptr;
    if (!problem.empty())
      return llvm::createStringError(llvm::inconvertibleErrorCode(), problem);
    return llvm::Error::success();
  }

  static void setBuiltins(ThreadArguments& thread, const Grid& grid,
                          const std::array<uint32_t, 3>& groups, const std::array<uint32_t, 3>& at,
                          const std::array<uint32_t, 3>& size, unsigned index) {
    using air::Builtin;
    const std::array<uint32_t, 3> local = {index % size[0], index / size[0] % size[1],
                                           index / (size[0] * size[1])};
    auto set = [&](Builtin builtin, auto value) {
      for (unsigned i = 0; i < 3; ++i)
        thread.builtins[static_cast<size_t>(builtin)][i] = value(i);
    };
    auto one = [&](Builtin builtin, uint32_t value) {
      set(builtin, [&](unsigned i) { return i == 0 ? value : 0; });
    };
    auto groupsOf = [](uint32_t threads, uint32_t width) { return (threads + width - 1) / width; };
    const uint32_t count = size[0] * size[1] * size[2];
    const uint32_t dispatched = grid.threads_per_threadgroup[0] * grid.threads_per_threadgroup[1] *
                                grid.threads_per_threadgroup[2];
    set(Builtin::ThreadPositionInGrid,
        [&](unsigned i) { return at[i] * grid.threads_per_threadgroup[i] + local[i]; });
    set(Builtin::ThreadPositionInThreadgroup, [&](unsigned i) { return local[i]; });
    set(Builtin::ThreadgroupPositionInGrid, [&](unsigned i) { return at[i]; });
    set(Builtin::ThreadsPerGrid, [&](unsigned i) { return grid.threads[i]; });
    set(Builtin::ThreadsPerThreadgroup, [&](unsigned i) { return size[i]; });
    set(Builtin::ThreadgroupsPerGrid, [&](unsigned i) { return groups[i]; });
    set(Builtin::DispatchThreadsPerThreadgroup,
        [&](unsigned i) { return grid.threads_per_threadgroup[i]; });
    set(Builtin::GridOrigin, [](unsigned) { return 0u; });
    set(Builtin::GridSize, [&](unsigned i) { return grid.threads[i]; });
    one(Builtin::ThreadIndexInThreadgroup, index);
    one(Builtin::ThreadIndexInSimdgroup, index % kSimdgroup);
    one(Builtin::SimdgroupIndexInThreadgroup, index / kSimdgroup);
    one(Builtin::SimdgroupsPerThreadgroup, groupsOf(count, kSimdgroup));
    one(Builtin::DispatchSimdgroupsPerThreadgroup, groupsOf(dispatched, kSimdgroup));
    one(Builtin::ThreadsPerSimdgroup, kSimdgroup);
    one(Builtin::ThreadExecutionWidth, kSimdgroup);
    one(Builtin::ThreadIndexInQuadgroup, index % 4);
    one(Builtin::QuadgroupIndexInThreadgroup, index / 4);
    one(Builtin::QuadgroupsPerThreadgroup, groupsOf(count, 4));
    one(Builtin::DispatchQuadgroupsPerThreadgroup, groupsOf(dispatched, 4));
  }

  std::unique_ptr<orc::LLJIT> jit_;
  LoweredKernel lowered_;
  void (*entry_)(ThreadArguments*) = nullptr;
  std::vector<std::pair<uint8_t*, uint64_t>> threadgroup_memory_;
};

} // namespace

llvm::Expected<std::unique_ptr<Kernel>> Kernel::create(std::unique_ptr<llvm::LLVMContext> context,
                                                       std::unique_ptr<llvm::Module> module,
                                                       const std::string& function,
                                                       Schedule schedule) {
  auto kernel = std::make_unique<JitKernel>();
  if (auto error = kernel->compile(std::move(context), std::move(module), function, schedule))
    return std::move(error);
  return kernel;
}

llvm::Expected<std::unique_ptr<Kernel>>
Kernel::create(std::span<const uint8_t> bitcode, const std::string& function,
               std::span<const air::ConstantValue> constants, Schedule schedule) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
  auto module = air::parse_module({bytes, function}, *context);
  if (!module)
    return module.takeError();
  if (auto error = air::specialise(**module, constants))
    return std::move(error);
  return create(std::move(context), std::move(*module), function, schedule);
}

} // namespace bessemer::metal::cpu::reference
