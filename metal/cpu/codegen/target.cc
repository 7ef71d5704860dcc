#include "metal/cpu/codegen/target.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <map>
#include <memory>
#include <mutex>

using namespace llvm;

namespace bessemer::metal::cpu {

const HostTarget& host_target() {
  static const HostTarget host = [] {
    HostTarget target{sys::getDefaultTargetTriple(), sys::getHostCPUName().str(), {}};
    for (const auto& feature : sys::getHostCPUFeatures()) {
      if (!target.features.empty())
        target.features += ',';
      target.features += feature.second ? '+' : '-';
      target.features += feature.first();
    }
    return target;
  }();
  return host;
}

Expected<Target> get_target(const KernelOptions& options) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    // The processors that kernels are made for, and no others: starting all of LLVM's takes
    // milliseconds, and clang believes a registered WebAssembly target over its own data layout.
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  HostTarget wanted{options.triple, options.cpu, options.features};
  if (wanted.triple.empty() && wanted.cpu.empty())
    wanted = host_target();
  else if (wanted.triple.empty())
    wanted.triple = host_target().triple;

  struct Entry {
    std::unique_ptr<TargetMachine> machine;
    TargetTraits traits;
  };
  thread_local std::map<std::string, Entry> machines;
  Entry& entry = machines[wanted.triple + '\n' + wanted.cpu + '\n' + wanted.features];
  if (!entry.machine) {
    Triple triple(wanted.triple);
    std::string message;
    const llvm::Target* target = TargetRegistry::lookupTarget(triple, message);
    if (!target)
      return createStringError("target '%s': %s", wanted.triple.c_str(), message.c_str());
    TargetOptions target_options;
    target_options.AllowFPOpFusion = FPOpFusion::Standard;
    target_options.FunctionSections = false;
    entry.machine.reset(target->createTargetMachine(triple, wanted.cpu, wanted.features,
                                                    target_options, Reloc::PIC_, CodeModel::Small,
                                                    CodeGenOptLevel::Default));
    if (!entry.machine)
      return createStringError("target '%s' cannot make code", wanted.triple.c_str());
    if (!wanted.cpu.empty() && !entry.machine->getMCSubtargetInfo()->isCPUStringValid(wanted.cpu)) {
      entry.machine.reset();
      return createStringError("'%s' is no processor of target '%s'", wanted.cpu.c_str(),
                               wanted.triple.c_str());
    }
    auto has = [&](StringRef feature) {
      return entry.machine->getMCSubtargetInfo()->checkFeatures(("+" + feature).str());
    };
    TargetTraits& traits = entry.traits;
    traits.cpu = wanted.cpu;
    traits.features = wanted.features;
    if (triple.isX86()) {
      bool wide = has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq");
      traits.vector_bits = wide ? 512 : has("avx2") ? 256 : 128;
      traits.has_gather = wide;
      traits.has_masked_memory = wide;
      traits.has_window_permutes = wide && has("bmi2");
      traits.has_dot_products = wide ? has("avx512vnni") : has("avx2") && has("avxvnni");
      traits.has_streaming_stores = true;
      traits.has_bfloat = wide && has("avx512bf16");
    }
  }
  return Target{entry.machine.get(), entry.traits};
}

VectorizeOptions vectorize_options(const TargetTraits& traits, int lanes,
                                   const std::array<uint32_t, 3>& threads) {
  VectorizeOptions options;
  options.lanes = lanes;
  std::copy(threads.begin(), threads.end(), options.threads);
  options.vector_bits = traits.vector_bits;
  options.has_gather = traits.has_gather;
  options.has_masked_memory = traits.has_masked_memory;
  options.has_window_permutes = traits.has_window_permutes;
  options.has_streaming_stores = traits.has_streaming_stores;
  options.has_bfloat = traits.has_bfloat;
  return options;
}

} // namespace bessemer::metal::cpu
